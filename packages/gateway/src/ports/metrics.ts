/** Port: counts what the gateway does. */
export interface Metrics {
  /** One answered HTTP request. @param route - path template, or `unmatched` */
  answered(answer: {
    readonly method: string;
    readonly route: string;
    readonly status: number;
    readonly seconds: number;
  }): void;
  /** One claim, won or lost to a rival. */
  claimed(result: 'won' | 'lost'): void;
  /** The text that a scraper reads. */
  render(): Promise<{ readonly contentType: string; readonly body: string }>;
}
