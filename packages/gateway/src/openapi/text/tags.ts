/** Names of the document's tags. */
export const TAGS = {
  requests: 'Requests',
  storage: 'Storage',
  relayers: 'Relayer whitelist',
  operations: 'Operations',
  development: 'Development',
  objects: 'Local objects',
} as const;

/** What each tag gathers. */
export const TAG_DESCRIPTIONS: Readonly<Record<keyof typeof TAGS, string>> = {
  requests: 'The queue of signed requests',
  storage: 'Presigned URLs for encrypted objects',
  relayers: 'Who may claim; administrators only',
  operations: 'For operators and readers',
  development: 'The built-in identity issuer; it does not exist in production',
  objects: 'Objects on this machine, behind presigned URLs; with a bucket, its own service answers instead',
};
