/** The settings do not say which bucket to sign for, or how to reach it. It is found at start, before any call. */
export class S3SettingsError extends Error {
  override readonly name = 'S3SettingsError';
  readonly code = 'S3_SETTINGS_INVALID';
}
