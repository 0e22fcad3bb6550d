/** What the bare server can be asked. */
export type BareCalls = {
  /** Starts to listen on a free port and gives it; `constant` is what every GET answers, as JSON text. */
  listen: { params: { readonly constant: string }; result: number };
};
