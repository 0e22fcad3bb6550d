/** Fields of a line of the log. */
export type LogFields = Readonly<Record<string, unknown>>;

/** Writes lines of JSON; pino is one. */
export interface Logger {
  debug(fields: LogFields, message: string): void;
  info(fields: LogFields, message: string): void;
  warn(fields: LogFields, message: string): void;
  error(fields: LogFields, message: string): void;
}
