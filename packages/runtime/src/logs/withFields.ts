import type { LogFields, Logger } from './createLogger.ts';

/**
 * Makes a log of which every line says something besides.
 *
 * @param logger - which writes the lines
 * @param fields - said in each, like `{ chain: 'base' }`
 * @returns the log
 */
export function withFields(logger: Logger, fields: LogFields): Logger {
  const add =
    (level: keyof Logger): Logger['info'] =>
    (facts, message) =>
      logger[level]({ ...fields, ...facts }, message);
  return { debug: add('debug'), info: add('info'), warn: add('warn'), error: add('error') };
}
