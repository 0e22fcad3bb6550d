type Fields = Readonly<Record<string, unknown>>;

/** One line of a log. */
export interface LogLine {
  readonly level: 'debug' | 'info' | 'warn' | 'error';
  readonly fields: Fields;
  readonly message: string;
}

/** A logger that keeps what it is given. */
export interface LogRecorder {
  readonly lines: readonly LogLine[];
  debug(fields: Fields, message: string): void;
  info(fields: Fields, message: string): void;
  warn(fields: Fields, message: string): void;
  error(fields: Fields, message: string): void;
}

/**
 * Creates a logger for tests.
 *
 * @returns the logger and its lines
 */
export function createLogRecorder(): LogRecorder {
  const lines: LogLine[] = [];
  const record = (level: LogLine['level']) => (fields: Fields, message: string) => {
    lines.push({ level, fields, message });
  };
  return { lines, debug: record('debug'), info: record('info'), warn: record('warn'), error: record('error') };
}
