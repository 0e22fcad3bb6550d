const CREDIT = 10n ** 18n;

/** What this demo's world is like; amounts of credits in base units. */
export const WORLD = {
  chainName: 'eip155:31337',
  /** Seconds in which only the official relayer may submit: short, so that the other one has something to do. */
  priorityWindow: 2,
  /** What a relayer that is not official gets of its fees. */
  relayerShareBps: 7000,
  /** What a request pays to the treasury that puts data on the chain. */
  protocolFee: 5n * CREDIT,
  /** 1000 credits a stablecoin (the Exchange's rate), 3000 stablecoins an ether. */
  creditsPerEth: 3_000_000n,
  creditsPerUser: 1_000_000n * CREDIT,
  etherPerRelayer: 10n ** 18n,
} as const;
