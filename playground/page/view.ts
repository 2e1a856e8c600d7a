/** What every view of the page can be asked for. */
export interface View {
  /** The program, the choices or the launch have changed: ask the worker again and draw. */
  refresh(): void;
  /** The selected line has changed. */
  line(): void;
}
