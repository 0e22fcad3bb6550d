/** Settings that cannot be used. It names every fault at once, and never a value: values may be secrets. */
export class SettingsError extends Error {
  override readonly name = 'SettingsError';
  readonly code = 'SETTINGS_INVALID';
  /** One sentence each: the setting's name, and what was expected of it. */
  readonly faults: readonly string[];

  /** @param faults - at least one, like `PORT: expected a whole number from 0 to 65535`; repeated ones are named once */
  constructor(faults: readonly string[]) {
    const named = [...new Set(faults)];
    super(named.length === 1 ? `Bad setting: ${named[0]}` : `Bad settings:\n  ${named.join('\n  ')}`);
    this.faults = named;
  }
}
