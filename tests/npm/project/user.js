import { Device } from "@tri/tri";
import { vectorAdd } from "@tri/kernels/vector_add";

const device = Device.open({ device: "emulator" });
const vector = (...values) => device.tensor(new Float32Array(values));
// Without await at the top, which CommonJS does not have.
vectorAdd(vector(1, 2, 3), vector(4, 5, 6)).read().then((sum) => console.log(sum.join(" ")));
