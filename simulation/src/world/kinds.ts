/** Every kind of fault, by the name that `--faults` takes. */
export const FAULTS = [
  'network',
  'kills',
  'restarts',
  'nodes',
  'fees',
  'reorgs',
  'pool',
  'slots',
  'disks',
  'prices',
  'gateway',
  'cards',
  'payers',
  'keys',
] as const;
export type Fault = (typeof FAULTS)[number];

/** Parts of users' lives, by the name that `--kinds` takes; what stands here more often comes more often. */
export const KINDS: readonly string[] = [
  'single',
  'single',
  'single',
  'single',
  'single',
  'single',
  'single',
  'single',
  'pair',
  'twice',
  'raise',
  'forged',
  'foreign',
  'invalidate',
  'batch',
  'multi',
  'transfer',
  'create',
  'front run',
  'wallet',
  'turncoat',
  'junk',
];
