/** A card processor's export that cannot be compared: nobody could say what a row of it means. */
export class ExportError extends Error {
  override readonly name = 'ExportError';
  readonly code = 'EXPORT_UNREADABLE';
}
