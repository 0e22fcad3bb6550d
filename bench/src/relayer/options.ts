import { parseArgs } from 'node:util';

/** What `npm run bench -- relayer` was asked for. */
export interface RelayerBenchOptions {
  /** Rounds; figures are medians. */
  readonly rounds: number;
  /** Requests a round of each measure. */
  readonly requests: number;
  /** Relayers that compete. */
  readonly rivals: number;
}

/** What `npm run bench -- relayer --help` prints. */
export const usage = `npm run bench -- relayer [--rounds 3] [--requests 500] [--rivals 10]

Measures, over the real stack (Anvil, contracts, gateway, relayer processes):
  requests a second from POST to reported, over raw sending of the same calls to the same Anvil
  gas a write in a batch of 50, over single writes
  409s a won claim, with rivals`;

/** Parses the arguments after `relayer`. @returns undefined where help is wanted @throws TypeError for unknown ones */
export function parseRelayerOptions(args: readonly string[]): RelayerBenchOptions | undefined {
  const { values } = parseArgs({
    args: [...args],
    options: {
      rounds: { type: 'string', default: '3' },
      requests: { type: 'string', default: '500' },
      rivals: { type: 'string', default: '10' },
      help: { type: 'boolean', default: false },
    },
  });
  if (values.help) return undefined;
  return { rounds: Number(values.rounds), requests: Number(values.requests), rivals: Number(values.rivals) };
}
