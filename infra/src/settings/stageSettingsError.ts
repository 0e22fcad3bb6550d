/** Faults of what a stage was to be deployed with. It names settings, never their values. */
export class StageSettingsError extends Error {
  override readonly name = 'StageSettingsError';
  readonly code = 'STAGE_SETTINGS_INVALID';
  readonly faults: readonly string[];

  /** @param faults - one sentence a fault, each beginning with the setting's name */
  constructor(faults: readonly string[]) {
    super(faults.length === 1 ? `Bad setting: ${faults[0]}` : `Bad settings:\n  ${faults.join('\n  ')}`);
    this.faults = faults;
  }
}
