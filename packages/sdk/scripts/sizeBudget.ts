/** Most bytes of the storage and submit parts together, minified, without viem. */
export const SIZE_BUDGET_BYTES = 20_000;

/** What has the budget: all that a page needs to sign, submit, wait, and to keep objects. */
export const BUDGETED_SOURCE = `
export { createGatewayClient, isGatewayError } from '@prism-gateway/sdk/requests';
export { createStorageClient, StorageError } from '@prism-gateway/sdk/storage';
export { createUserClient } from '@prism-gateway/sdk/user';
`;

/** What is measured beside it, for comparison. */
export const MEASURED_SOURCES: Readonly<Record<string, string>> = {
  'requests, storage, user': BUDGETED_SOURCE,
  requests: `export * from '@prism-gateway/sdk/requests';`,
  storage: `export * from '@prism-gateway/sdk/storage';`,
  user: `export * from '@prism-gateway/sdk/user';`,
  relayer: `export * from '@prism-gateway/sdk/relayer';`,
  admin: `export * from '@prism-gateway/sdk/admin';`,
  'the same three from the root': BUDGETED_SOURCE.replaceAll(/sdk\/\w+/g, 'sdk'),
};
