/** A finding of the doctor. */
export interface Finding {
  readonly check:
    | 'settings'
    | 'exposure'
    | 'port'
    | 'metrics'
    | 'disk'
    | 'database'
    | 'secrets'
    | 'objects'
    | 'identity'
    | 'clock';
  readonly ok: boolean;
  readonly found: string;
  /** The advice; empty if all is well. */
  readonly advice: string;
}

/** Nothing is to be done. */
export const well = (check: Finding['check'], found: string): Finding => ({ check, ok: true, found, advice: '' });

/** Writes a finding about which somebody has to do something. @returns a function from the check to the finding */
export const bad =
  (found: string, advice: string) =>
  (check: Finding['check']): Finding => ({ check, ok: false, found, advice });
