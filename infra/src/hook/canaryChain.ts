/** Chain of the canary's requests: no relayer serves it, so that nobody else claims them. */
export const CANARY_CHAIN = 'prism-canary';
