/** Serves on port 8000 with Deno; node.ts is the same for Node. */
import { Device } from "@tri/tri/ffi";
import { handle } from "./handler.ts";
import { DIMENSIONS, sampleVectors } from "./index.ts";
import { Search } from "./search.ts";

const device = Device.open();
const search = new Search(device, sampleVectors(), DIMENSIONS);
Deno.serve({ port: 8000 }, (request) => handle(search, request));
