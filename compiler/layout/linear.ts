/** placeholder: replaced below */
export interface LinearLayout {
  readonly bases: Readonly<Record<string, readonly number[]>>;
}
