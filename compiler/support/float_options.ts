/** What a kernel's pragmas say of its floats (language.md 9.2, 9.3 and 10.3). */

export interface FloatOptions {
  /** `fp_contract`: a product and the sum that uses it may be rounded together. */
  readonly contract: boolean;
  /** `ftz`: arithmetic on `float` takes and gives zeros for subnormal numbers. */
  readonly flush: boolean;
  /** `fast_div`: quotients of `float` are within 2 ulp, not correctly rounded. */
  readonly fastDivision: boolean;
  /** `math(precise)`: exp, exp2, log, log2 and log10 of `float` within 2 ulp. */
  readonly precise: boolean;
}

/** Where no pragma says otherwise. */
export const DEFAULT_FLOATS: FloatOptions = {
  contract: true,
  flush: false,
  fastDivision: false,
  precise: false,
};
