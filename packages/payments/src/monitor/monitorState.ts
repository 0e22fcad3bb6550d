import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import * as z from 'zod/mini';
import type { Condition } from './condition.ts';
import type { Sample } from './estimateReach.ts';

const sampleSchema = z.object({ atMs: z.number(), balanceWei: z.string().check(z.regex(/^\d+$/)), nonce: z.number() });
const schema = z.object({
  conditions: z.record(z.string(), z.object({ state: z.enum(['well', 'bad']), toldAtMs: z.number() })),
  samples: z.record(z.string(), z.array(sampleSchema)),
});

/** What the monitor remembers, so that a restart does not tell it all again. */
export interface MonitorState {
  readonly conditions: Map<string, Condition>;
  readonly samples: Map<string, readonly Sample[]>;
}

/**
 * Reads what was remembered.
 *
 * @param file - JSON
 * @returns nothing remembered where the file is missing or broken: at worst people are told twice
 */
export function readMonitorState(file: string): MonitorState {
  try {
    const { conditions, samples } = schema.parse(JSON.parse(readFileSync(file, 'utf8')));
    const parsed = Object.entries(samples).map(
      ([name, list]) => [name, list.map((item) => ({ ...item, balanceWei: BigInt(item.balanceWei) }))] as const,
    );
    return { conditions: new Map(Object.entries(conditions)), samples: new Map(parsed) };
  } catch {
    return { conditions: new Map(), samples: new Map() };
  }
}

/**
 * Writes what is to be remembered, in one step.
 *
 * @param file - JSON
 * @param state - what to remember
 */
export function writeMonitorState(file: string, state: MonitorState): void {
  const samples = [...state.samples].map(
    ([name, list]) => [name, list.map((item) => ({ ...item, balanceWei: `${item.balanceWei}` }))] as const,
  );
  const text = JSON.stringify({
    conditions: Object.fromEntries(state.conditions),
    samples: Object.fromEntries(samples),
  });
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
  writeFileSync(`${file}.tmp`, text);
  renameSync(`${file}.tmp`, file);
}
