/** The least level that a log writes; `silent` writes nothing. */
export type LogLevel = (typeof LOG_LEVELS)[number];

/** Fields of one line. They never hold keys, tokens, signatures, signed URLs or RPC URLs. */
export type LogFields = Readonly<Record<string, unknown>>;

/** Writes lines, each with its fields and its message. */
export interface Logger {
  debug(fields: LogFields, message: string): void;
  info(fields: LogFields, message: string): void;
  warn(fields: LogFields, message: string): void;
  error(fields: LogFields, message: string): void;
}

/** Errors and big integers, which JSON has no form for. */
function plainValue(_key: string, value: unknown): unknown {
  if (typeof value === 'bigint') return String(value);
  if (!(value instanceof Error)) return value;
  const { name, message, stack, cause } = value;
  return { type: name, ...value, message, stack, ...(cause === undefined ? {} : { cause }) };
}

const holdsError = (fields: LogFields) => Object.values(fields).some((value) => value instanceof Error);

/** Writes a line; a busy service writes one for each request, nearly all of them of plain values. */
function writeJson(line: LogFields): string {
  try {
    return holdsError(line) ? JSON.stringify(line, plainValue) : JSON.stringify(line);
  } catch {
    // A big integer, or a value that holds itself.
    return writePlainly(line);
  }
}

function writePlainly(line: LogFields): string {
  try {
    return JSON.stringify(line, plainValue);
  } catch {
    const { level, time, msg } = line;
    return JSON.stringify({ level, time, msg, unwritable: Object.keys(line) });
  }
}

/**
 * Creates a log: lines of JSON, `{"level":"info","time":1700000000000, …fields, "msg":"started"}`. `level` is a word, `time`
 * milliseconds since the epoch.
 *
 * @example
 * const output = openLogOutput();
 * const logger = createLogger({ level: 'info', write: output.write, now: Date.now });
 * logger.info({ port: 8787 }, 'listening');
 * await output.close();
 */
export function createLogger(options: {
  /** The least level that is written. */
  readonly level: LogLevel;
  /** Takes a whole line, its newline included: an output of `openLogOutput`, or `process.stdout`'s `write`. */
  readonly write: (line: string) => void;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  /** Fields of every line, read anew for each. */
  readonly fields?: () => LogFields;
  /** Takes secrets out of a line before it is written. */
  readonly redact?: (line: string) => string;
}): Logger {
  const { level: least, write, now, fields, redact = (line) => line } = options;
  function writer(level: LogLevel): Logger['info'] {
    if (LOG_LEVELS.indexOf(level) < LOG_LEVELS.indexOf(least)) return () => undefined;
    return (facts, msg) => write(`${redact(writeJson({ level, time: now(), ...fields?.(), ...facts, msg }))}\n`);
  }
  return { debug: writer('debug'), info: writer('info'), warn: writer('warn'), error: writer('error') };
}

/** Words of the log's least level, from the most lines to none. */
export const LOG_LEVELS = ['debug', 'info', 'warn', 'error', 'silent'] as const;

/**
 * Makes a log of which every line says something besides.
 *
 * @param fields - said in each, like `{ chain: 'base' }`
 */
export function withFields(logger: Logger, fields: LogFields): Logger {
  const add =
    (level: keyof Logger): Logger['info'] =>
    (facts, message) =>
      logger[level]({ ...fields, ...facts }, message);
  return { debug: add('debug'), info: add('info'), warn: add('warn'), error: add('error') };
}
