/** All that a page of the guide runs: it keeps the site for offline use, as the playground does. */
const script = new URL("offline.js", import.meta.url);
navigator.serviceWorker?.register(script).catch(() => {});
