import type { Action } from '@prism-gateway/protocol';

/** What each action asks the Forwarder to do, in one line. */
export const ACTION_SUMMARIES: Readonly<Record<Action, string>> = {
  CREATE_PRISM_FOR: 'Create a prism, funded by a permit',
  WRITE_DATA_FOR: 'Write one entry',
  MODIFY_DATA_FOR: 'Replace one entry',
  DELETE_DATA_FOR: 'Delete one entry',
  TRANSFER_PRISM_FOR: 'Offer a prism to a new owner',
  ACCEPT_TRANSFER_FOR: 'Accept an offered prism',
  DELETE_PRISM_FOR: 'Delete a prism',
  BATCH_WRITE_DATA_FOR: 'Write several entries',
  BATCH_MODIFY_DATA_FOR: 'Replace several entries',
  BATCH_DELETE_DATA_FOR: 'Delete several entries',
  BATCH_MULTI_USER_WRITE_DATA: 'Write entries of several users, each individually signed',
  CREATE_PRISM_WITH_DATA_FOR: 'Create a prism and write its first entries, in one transaction',
};

const NO_PERMIT_WITHOUT_FUNDS = '`permit` is refused when `fundAmount` is `0`, and optional otherwise.';
const EQUAL_LENGTHS = '`dataIds` and `payloads` have as many entries as each other.';

/** Rules between the fields of one action's params. */
export const PARAMS_RULES: Readonly<Partial<Record<Action, readonly string[]>>> = {
  CREATE_PRISM_FOR: [NO_PERMIT_WITHOUT_FUNDS],
  BATCH_WRITE_DATA_FOR: [EQUAL_LENGTHS],
  BATCH_MODIFY_DATA_FOR: [EQUAL_LENGTHS],
  BATCH_MULTI_USER_WRITE_DATA: [
    "The Forwarder checks each entry's own signature against that entry's `signer`; the outer shared fields say who queued the batch.",
  ],
  CREATE_PRISM_WITH_DATA_FOR: [NO_PERMIT_WITHOUT_FUNDS, EQUAL_LENGTHS],
};
