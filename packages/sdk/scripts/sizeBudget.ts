/** One thing that a front-end may carry of the SDK, and how much it may weigh. */
export interface SizeBudget {
  /** The text of the module to measure. */
  readonly source: string;
  /** Most bytes, minified, without viem. */
  readonly bytes: number;
}

const WHOLE = `
export { createGatewayClient, isGatewayError } from '@prism-gateway/sdk/requests';
export { createStorageClient, StorageError } from '@prism-gateway/sdk/storage';
export { createUserClient } from '@prism-gateway/sdk/user';
`;

/** All that a page needs to sign, submit, wait, and to keep objects; and each entry by itself. */
export const SIZE_BUDGETS: Readonly<Record<string, SizeBudget>> = {
  'requests, storage, user': { source: WHOLE, bytes: 22_450 },
  'the same three from the root': { source: WHOLE.replaceAll(/sdk\/\w+/g, 'sdk'), bytes: 22_450 },
  requests: { source: `export * from '@prism-gateway/sdk/requests';`, bytes: 9_250 },
  storage: { source: `export * from '@prism-gateway/sdk/storage';`, bytes: 8_300 },
  user: { source: `export * from '@prism-gateway/sdk/user';`, bytes: 12_200 },
  relayer: { source: `export * from '@prism-gateway/sdk/relayer';`, bytes: 11_750 },
  wallet: { source: `export * from '@prism-gateway/sdk/wallet';`, bytes: 3_500 },
  // Most of it is the Forwarder's ABI, by which calldata is made.
  fees: { source: `export * from '@prism-gateway/sdk/fees';`, bytes: 22_000 },
  admin: { source: `export * from '@prism-gateway/sdk/admin';`, bytes: 6_100 },
};
