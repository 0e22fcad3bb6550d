/** Settings' faults: which, and what was expected. It never repeats a value. */
export class SettingsError extends Error {
  override readonly name = 'SettingsError';
  readonly code = 'SETTINGS_INVALID';
  /** One sentence each: the setting's name, and what was expected. */
  readonly faults: readonly string[];

  /** @param faults - at least one */
  constructor(faults: readonly string[]) {
    super(faults.length === 1 ? `Bad setting: ${faults[0]}` : `Bad settings:\n  ${faults.join('\n  ')}`);
    this.faults = faults;
  }
}
