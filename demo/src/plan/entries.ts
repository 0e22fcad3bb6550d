import type { Hex } from 'viem';
import { toHex } from 'viem/utils';
import type { ExpectedPrism } from './plan.ts';

/** Some entries of a prism. */
export interface Entries {
  readonly dataIds: readonly Hex[];
  readonly payloads: readonly Hex[];
}

/** Makes the payload of the next entry. */
export type CreatePayload = () => Hex;

function listPresent({ entries }: ExpectedPrism): readonly Hex[] {
  return [...entries].filter(([, payload]) => payload !== undefined).map(([dataId]) => dataId);
}

function setEntries(prism: ExpectedPrism, dataIds: readonly Hex[], createPayload: CreatePayload): Entries {
  const payloads = dataIds.map((dataId) => {
    const payload = createPayload();
    prism.entries.set(dataId, payload);
    return payload;
  });
  return { dataIds, payloads };
}

/** Puts new entries into a prism. An id is never used twice. */
export function putEntries(prism: ExpectedPrism, count: number, createPayload: CreatePayload): Entries {
  const next = prism.entries.size + 1;
  const dataIds = Array.from({ length: count }, (_, index) => toHex(next + index, { size: 32 }));
  return setEntries(prism, dataIds, createPayload);
}

/** Replaces the newest entries of a prism. */
export function replaceEntries(prism: ExpectedPrism, count: number, createPayload: CreatePayload): Entries {
  return setEntries(prism, listPresent(prism).slice(-count), createPayload);
}

/** Removes the oldest entries of a prism. @returns their ids */
export function removeEntries(prism: ExpectedPrism, count: number): readonly Hex[] {
  const dataIds = listPresent(prism).slice(0, count);
  for (const dataId of dataIds) prism.entries.set(dataId, undefined);
  return dataIds;
}
