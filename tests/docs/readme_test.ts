/** The README does what it says, from nothing to an npm package. */
import { testPages } from "./pages.ts";

testPages("README.md", ["README.md"], ["transpose.tc"]);
