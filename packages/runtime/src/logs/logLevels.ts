/** Words of the log's least level, from the most lines to none. */
export const LOG_LEVELS = ['debug', 'info', 'warn', 'error', 'silent'] as const;
