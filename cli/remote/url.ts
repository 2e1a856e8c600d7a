/** The URL of a cache on a server or in a folder, and the variables that are stated beside it. */

/** Instead of a URL: no remote cache, though settings or the environment state one. */
export const OFF = "off";

/** The variables of the environment that say how tri talks to a remote cache. */
export const REMOTE_VARIABLES = {
  url: "TRI_REMOTE_CACHE",
  write: "TRI_REMOTE_CACHE_WRITE",
  zstd: "TRI_REMOTE_CACHE_ZSTD",
  limit: "TRI_REMOTE_CACHE_LIMIT",
  timeout: "TRI_REMOTE_CACHE_TIMEOUT",
  token: "TRI_REMOTE_CACHE_TOKEN",
  user: "TRI_REMOTE_CACHE_USER",
  password: "TRI_REMOTE_CACHE_PASSWORD",
} as const;

/** Whether the cache is a folder of this machine. */
export function isFolderUrl(url: string): boolean {
  return /^file:/i.test(url);
}

/** Why a text is not the URL of a cache. */
export function mistakeInUrl(
  text: string,
): { readonly message: string; readonly hint: string } | undefined {
  if (text === OFF) return undefined;
  if (!/^[a-z][a-z0-9+.-]*:\/\//i.test(text)) {
    return { message: "a URL without scheme", hint: `Did you mean http://${text}?` };
  }
  const scheme = text.slice(0, text.indexOf(":")).toLowerCase();
  if (scheme === "file") {
    return URL.canParse(text) && new URL(text).hostname === "" && new URL(text).pathname !== "/"
      ? undefined
      : { message: "not the URL of a folder of this machine", hint: "State file:///PATH." };
  }
  if (scheme !== "http" && scheme !== "https") {
    return {
      message: `tri does not speak ${scheme}`,
      hint: "Name the HTTP port of the server: http://… or https://…; or a folder: file:///….",
    };
  }
  if (!URL.canParse(text)) return { message: "not a URL", hint: "State http://HOST:PORT/PATH." };
  const { username, password, search, hash } = new URL(text);
  if (username !== "" || password !== "") {
    return {
      message: "a URL with a user or a password, which logs would show",
      hint: `State them in ${REMOTE_VARIABLES.user} and ${REMOTE_VARIABLES.password}.`,
    };
  }
  if (search !== "" || hash !== "") {
    return {
      message: "a URL with ? or #, after which no path can follow",
      hint: "State http://HOST:PORT/PATH.",
    };
  }
  return undefined;
}
