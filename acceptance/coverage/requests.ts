import type { Rule } from './rule.ts';

const actions = 'SPEC.md section 4, "Actions and their params"';
const states = 'SPEC.md section 3';
const formats = 'DECISIONS.md, "Wire format"';
const list = 'SPEC.md section 4, "GET /requests"';
const record = 'DECISIONS.md, "Returned record"';
const reports = 'DECISIONS.md, "Which relayer may report"';

/** Rules of the queue: params, records, lists, claims and reports. */
export const REQUEST_RULES = [
  { id: 'create.actions', from: actions, says: 'each of the twelve actions, with really signed params, is taken' },
  { id: 'create.action', from: actions, says: 'any other action is 400' },
  { id: 'create.selfAuthenticating', from: 'SPEC.md section 1', says: 'the EIP-712 signature is not verified here' },
  {
    id: 'create.required',
    from: actions,
    says: "a missing param is 400, each of the action's own and the shared ones",
  },
  { id: 'format.chainName', from: formats, says: '1 to 64 of letters, digits and . _ : -, beginning with either' },
  { id: 'format.address', from: 'SPEC.md section 2', says: 'signer and newOwner: 0x + 40 hex' },
  { id: 'format.ids', from: formats, says: 'cloudId, dataId and salt: 0x + 1 to 32 whole bytes' },
  { id: 'format.payload', from: formats, says: '0x + 0 or more whole bytes' },
  { id: 'format.signature', from: formats, says: 'r, s: 0x + 64 hex; v: integer 0 to 255' },
  { id: 'format.decimals', from: formats, says: 'no sign, no leading zeros but 0 itself, at most uint256' },
  {
    id: 'format.permit',
    from: formats,
    says: '{ deadline, v, r, s }; refused when fundAmount is 0; optional otherwise',
  },
  { id: 'format.relayerFundAmount', from: actions, says: 'relayerFundAmount is optional' },
  { id: 'format.batch', from: formats, says: '1 to MAX_BATCH_SIZE entries; dataIds and payloads of equal length' },
  { id: 'format.multiUser', from: formats, says: 'requests[]: each { signer, cloudId, dataId, payload, …, v, r, s }' },

  { id: 'record.fields', from: record, says: 'the fields of the 201 answer, the same when read, listed or moved' },
  { id: 'record.absent', from: record, says: 'a field that has no value is absent, not null' },
  { id: 'record.claimed', from: record, says: 'claimedBy and claimedAt once claimed' },
  { id: 'record.outcome', from: record, says: 'txHash or errorMessage once set' },
  { id: 'record.signer', from: 'SPEC.md section 2', says: 'signer is taken from params.signer' },
  { id: 'record.caseKept', from: 'DECISIONS.md, "Address and hex case"', says: 'stored and returned as given' },
  { id: 'requestId.v7', from: 'DECISIONS.md, "`requestId`"', says: 'UUID version 7, made by the service' },
  { id: 'requestId.anyVersion', from: 'DECISIONS.md, "`requestId`"', says: 'any RFC 9562 UUID is accepted in a path' },
  { id: 'requestId.other', from: 'DECISIONS.md, "`requestId`"', says: 'anything else in a path is 400' },
  { id: 'requestId.case', from: 'DECISIONS.md, "`requestId`"', says: 'looked up without regard to case' },

  { id: 'list.filterRequired', from: list, says: 'At least one filter is required' },
  { id: 'list.access', from: list, says: 'signer is public; status and chainName need relayer auth' },
  { id: 'list.limit', from: list, says: 'limit: integer 1 to 100, default 20' },
  { id: 'list.count', from: list, says: 'count is the number of items' },
  { id: 'list.lastPage', from: list, says: 'A lastKey of null means the last page' },
  { id: 'list.walk', from: 'DECISIONS.md, "`lastKey`"', says: 'a walk gives each record once, in order' },
  { id: 'list.order', from: 'DECISIONS.md, "Order of a list"', says: 'oldest first; order=desc turns it round' },
  {
    id: 'list.combined',
    from: 'DECISIONS.md, "Combined filters"',
    says: 'all must hold; auth as soon as one needs it',
  },
  { id: 'list.signerCase', from: 'DECISIONS.md, "Address and hex case"', says: 'signer without regard to case' },
  { id: 'list.pendingOnly', from: 'DECISIONS.md, "A page of pending requests"', says: 'never shows a claimed record' },
  { id: 'list.status', from: list, says: 'status: pending, processing, success or failed; a moved record moves lists' },
  { id: 'cursor.form', from: list, says: 'lastKey is base64url' },
  { id: 'cursor.broken', from: 'DECISIONS.md, "`lastKey`"', says: 'broken or tampered: 400' },
  { id: 'cursor.otherFilters', from: 'DECISIONS.md, "`lastKey`"', says: 'used with other filters or order: 400' },

  { id: 'claim.once', from: states, says: 'only one of several concurrent claimers succeeds' },
  { id: 'claim.again', from: states, says: 'A claim on a request that was already claimed returns 409' },
  { id: 'claim.final', from: states, says: 'success and failed cannot be claimed' },
  { id: 'report.success', from: states, says: 'processing to success, with txHash' },
  { id: 'report.failed', from: states, says: 'processing to failed, with errorMessage' },
  { id: 'report.fieldRequired', from: states, says: 'txHash with success, errorMessage with failed' },
  { id: 'report.txHash', from: formats, says: '0x + 64 hex' },
  { id: 'report.errorMessage', from: formats, says: '1 to 1000 Unicode code points' },
  { id: 'report.foreignFields', from: formats, says: 'fields that do not belong to the asked status: 400' },
  { id: 'report.owner', from: reports, says: 'the one that claimed; another gets 409' },
  { id: 'report.fromPending', from: formats, says: 'success and failed from pending: 409' },
  { id: 'report.fromFinal', from: formats, says: 'any move out of success or failed: 409' },
  { id: 'report.pendingAsked', from: 'DECISIONS.md, "PATCH success answer"', says: 'asking for pending is 400' },
  { id: 'conflict.sentence', from: 'DECISIONS.md, "409 answer"', says: 'says the current status and what was asked' },
  { id: 'conflict.noChange', from: 'DECISIONS.md, "409 answer"', says: 'nothing is changed' },
  { id: 'lease.takeOver', from: 'DECISIONS.md, "Claim lease"', says: 'an old claim may be claimed again' },
  { id: 'lease.lateOwner', from: 'DECISIONS.md, "Claim lease"', says: 'the late first owner then gets 409' },
  { id: 'lease.stillReport', from: 'DECISIONS.md, "Claim lease"', says: 'as long as nobody has, it may still report' },
  { id: 'lease.listed', from: 'DECISIONS.md, "Claim lease"', says: 'an expired claim is listed as processing' },
  { id: 'lease.off', from: 'DECISIONS.md, "Claim lease"', says: 'default 0 = off: a claim holds' },
  { id: 'durable', from: 'DESIGN.md, "An answer is a promise"', says: 'what was answered survives a kill' },
] as const satisfies readonly Rule[];
