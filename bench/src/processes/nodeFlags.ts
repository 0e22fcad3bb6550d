/** Flags of the Node process that serves HTTP: `npm start` gives none, so neither do the gateway and its baselines here. */
export const serverNodeFlags: readonly string[] = [];
