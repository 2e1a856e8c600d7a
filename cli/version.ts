/** Which tri this is. */
import config from "../deno.json" with { type: "json" };

/** From deno.json. */
export const VERSION: string = config.version;
