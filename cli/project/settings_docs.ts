/** What the key `tri` of deno.json or package.json may hold, for docs/reference/settings.md. */

/** The keys of a kernel: what each is, and the pragma that says the same. */
export const KERNEL_SETTINGS = {
  variants: {
    form: '[{ "TYPE": "half" }, …]',
    pragma: "variant TYPE=half",
    doc: "combinations of parameters that the caller selects",
  },
  configs: {
    form: '[{ "TM": 64, "num_warps": 4 }, …]',
    pragma: "config TM=64; num_warps=4",
    doc:
      "combinations that the tuner selects; `num_warps`, `num_stages` and `max_registers` are options",
  },
  key: {
    form: '["M", "N"]',
    pragma: "key(M, N)",
    doc: "parameters of the kernel whose change re-selects the configuration",
  },
  grid: {
    form: '["cdiv(M, TM)", 1]',
    pragma: "grid(cdiv(M, TM), 1)",
    doc: "the launch grid: one to three extents",
  },
  tensors: {
    form: '{ "X": "in TYPE[M, N] strides [ldx, 1]" }',
    pragma: "tensor X : in TYPE[M, N] strides [ldx, 1]",
    doc: "pointer parameters as tensors",
  },
  require: {
    form: '["K % 8 == 0"]',
    pragma: "require(K % 8 == 0)",
    doc: "conditions that are checked before each launch",
  },
  options: {
    form: '{ "num_warps": 8, "math": "precise" }',
    pragma: "num_warps=8",
    doc: "options of all configurations",
  },
} as const;

/** Two wrappers of one file, which a test builds. */
export const BUILDS_EXAMPLE = {
  files: {
    "kernels/scale.tc": {
      builds: {
        scale_small: { defines: { FACTOR: 2 }, exports: { scale: "scaleByTwo" } },
        scale_large: { defines: { FACTOR: 1000 }, exports: { scale: "scaleByThousand" } },
      },
    },
  },
} as const;

/** A complete value of the key, which a test reads. */
export const SETTINGS_EXAMPLE = {
  remoteCache: "http://cache.example.com:8080/tri",
  files: {
    "kernels/transpose.tc": {
      defines: { STEP: 2, SHAPE: "TM, TN", OLD: null },
      exports: { transpose: "flip" },
      kernels: {
        transpose: {
          variants: [{ TYPE: "half" }, { TYPE: "float" }],
          configs: [{ TM: 64, TN: 32, num_warps: 4 }],
          key: ["M", "N"],
          grid: ["cdiv(M, TM)", "cdiv(N, TN)"],
          tensors: {
            X: "in TYPE[M, N] strides [ldx, 1]",
            Y: "out TYPE[N, M] strides [ldy, 1]",
          },
          require: ["M % 8 == 0"],
          options: { math: "precise" },
        },
      },
    },
  },
} as const;
