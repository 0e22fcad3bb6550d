import { cloudAbi, coreAbi, creditTokenAbi, forwarderAbi } from '@prism-gateway/contracts';
import { MAX_ERROR_MESSAGE_LENGTH } from '@prism-gateway/protocol';
import type { Abi, Hex } from 'viem';
import { decodeErrorResult, getAbiItem, toFunctionSelector } from 'viem/utils';

/** The errors of everything that a request can touch, by selector: to compute those takes longer than to decode. */
const errors: ReadonlyMap<string, Abi> = new Map(
  [...forwarderAbi, ...cloudAbi, ...coreAbi, ...creditTokenAbi].flatMap((item) =>
    item.type === 'error'
      ? [[toFunctionSelector(`function ${item.name}(${item.inputs.map(({ type }) => type).join()})`), [item]] as const]
      : [],
  ),
);

/** @throws Error of viem: none is known */
const decode = (data: Hex) => decodeErrorResult({ abi: errors.get(data.slice(0, 10).toLowerCase()) ?? [], data });

/** Longest text of one argument, in characters. */
const MAX_ARGUMENT_LENGTH = 200;

function writeArgument(value: unknown): string {
  const text = Array.isArray(value) ? `[${value.map(writeArgument).join(', ')}]` : String(value);
  return text.length > MAX_ARGUMENT_LENGTH ? `${text.slice(0, MAX_ARGUMENT_LENGTH)}…` : text;
}

/**
 * Cuts a text to what an `errorMessage` may have.
 *
 * @returns 1 to 1000 Unicode code points, without lone surrogates
 * @see docs/specification.md REPORT-2
 */
export function limitMessage(text: string): string {
  const points = [...text.toWellFormed()];
  if (points.length === 0) return 'unknown';
  if (points.length <= MAX_ERROR_MESSAGE_LENGTH) return points.join('');
  return `${points.slice(0, MAX_ERROR_MESSAGE_LENGTH - 1).join('')}…`;
}

/**
 * Writes what a call reverted with, as a person and a program can read it: `NotPrismOwner(0x…, 0x…)`.
 *
 * @param data - the ABI-encoded error; undefined if the node did not say
 * @returns custom error and arguments, at most 1000 characters
 */
export function decodeReason(data: Hex | undefined): string {
  if (data === undefined || data === '0x') return 'reverted without a reason';
  try {
    const { errorName, args } = decode(data);
    return limitMessage(`${errorName}(${(args ?? []).map(writeArgument).join(', ')})`);
  } catch {
    return limitMessage(`reverted with ${data}`);
  }
}

/** Reads whom the Forwarder has refused, and the nonce that it would have taken. @returns undefined: it was for another reason */
export function readInvalidSignature(data: Hex = '0x'): { readonly signer: Hex; readonly nonce: bigint } | undefined {
  if (nameReason(data) !== 'InvalidSignature') return undefined;
  const abi = [getAbiItem({ abi: forwarderAbi, name: 'InvalidSignature' })];
  const [signer, nonce] = decodeErrorResult({ abi, data }).args;
  return { signer, nonce };
}

/** Names the custom error of a revert. @returns undefined if it is none that is known */
export function nameReason(data: Hex | undefined): string | undefined {
  if (data === undefined || data === '0x') return undefined;
  try {
    return decode(data).errorName;
  } catch {
    return undefined;
  }
}
