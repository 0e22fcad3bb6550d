import { parseArgs } from 'node:util';
import { OptionsError } from '../options.ts';
import { BLOCK_MS } from './measureLatency.ts';

/** What `npm run bench -- relayer` was asked for. */
export interface RelayerBenchOptions {
  /** Rounds; figures are medians. */
  readonly rounds: number;
  /** Requests a round of each measure. */
  readonly requests: number;
  /** Requests of the light load. */
  readonly light: number;
  /** Relayers that compete. */
  readonly rivals: number;
  /** Time between blocks, in milliseconds. */
  readonly blockMs: number;
  /** Says that nothing is judged: too little is measured. */
  readonly quick: boolean;
}

/** What `npm run bench -- relayer --help` prints. */
export const usage = `npm run bench -- relayer [--rounds 3] [--requests 500] [--rivals 10] [--light 100] [--quick]

Measures, over the real stack (Anvil, contracts, gateway, relayer processes):
  requests a second from POST to reported, over raw sending of the same calls to the same Anvil
  gas a write in a batch of 50, over single writes
  409s a won claim, with rivals
  from a POST to success, one request at a time, with blocks of one second
  thirty writes of one signer posted at once, with 1 and 3 confirmations
--quick measures little and judges nothing: it shows that all works.`;

function readValues(args: readonly string[]) {
  try {
    const { values } = parseArgs({
      args: [...args],
      options: {
        rounds: { type: 'string' },
        requests: { type: 'string' },
        rivals: { type: 'string' },
        light: { type: 'string' },
        quick: { type: 'boolean', default: false },
        help: { type: 'boolean', default: false },
      },
    });
    return values;
  } catch (cause) {
    throw new OptionsError((cause as Error).message, { cause });
  }
}

const fullTexts = { rounds: '3', requests: '500', rivals: '10', light: '100' };
const quickTexts = { rounds: '1', requests: '40', rivals: '2', light: '3' };

/** Nothing is judged: most of the time would go by in waiting for blocks. */
const QUICK_BLOCK_MS = 250;

function toCount(name: string, text: string): number {
  if (/^[1-9]\d{0,5}$/.test(text)) return Number(text);
  throw new OptionsError(`--${name} ${text}: expected a whole number from 1 to 999999.`);
}

/** Parses the arguments after `relayer`. @returns undefined where help is wanted @throws OptionsError (`BAD_OPTIONS`) */
export function parseRelayerOptions(args: readonly string[]): RelayerBenchOptions | undefined {
  const { help, quick, ...texts } = readValues(args);
  if (help) return undefined;
  const { rounds, requests, rivals, light } = { ...(quick ? quickTexts : fullTexts), ...texts };
  return {
    quick,
    blockMs: quick ? QUICK_BLOCK_MS : BLOCK_MS,
    rounds: toCount('rounds', rounds),
    requests: toCount('requests', requests),
    rivals: toCount('rivals', rivals),
    light: toCount('light', light),
  };
}
