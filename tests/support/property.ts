/** fast-check with the seed of the run: its properties repeat with `TRI_SEED` like all other random inputs. */
import fc from "fast-check";
import { SEED } from "./seed.ts";

fc.configureGlobal({ ...fc.readConfigureGlobal(), seed: SEED | 0 });

export default fc;
