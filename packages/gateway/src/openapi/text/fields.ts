/** What a field means where its format alone does not say it, by schema and field. */
export const FIELD_DESCRIPTIONS: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  RequestRecord: {
    requestId: 'Made by the service: a UUID of version 7',
    signer: 'The user: `params.signer`, as it was given',
    status: 'Begins as `pending`',
    createdAt: 'When the request was stored',
    updatedAt: 'When the record last changed',
    txHash: 'As the relayer reported it; present once the status is `success`',
    errorMessage: 'As the relayer reported it; present once the status is `failed`',
    claimedBy: 'The relayer that holds or held the claim; present once claimed',
    claimedAt: 'When it claimed; present once claimed',
  },
  RequestPage: {
    count: 'Number of `items` on this page',
    lastKey: 'Cursor: pass it as `lastKey`, with the same filters, for the next page. `null`: this was the last page',
  },
  Relayer: {
    address: 'With the letter case of EIP-55',
    label: 'Name for people',
    createdAt: 'When the address was first whitelisted',
    updatedAt: 'When the record last changed',
  },
  RelayerList: { count: 'Number of `relayers`' },
  RelayerRemoved: { message: 'One human-readable sentence', address: 'With the letter case of EIP-55' },
  SignedOperation: { expiresAt: 'End of the lifetime; never later than the end of the access token' },
  Error: { details: 'Every fault found; present with validation errors' },
};
