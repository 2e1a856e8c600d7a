/**
 * The number of the form that wrappers and manifests have. It rises with every change that would make a run time
 * misunderstand a wrapper of another version: rows that mean something else, an image that is launched in another way.
 */
export const WRAPPER_ABI = 3;
