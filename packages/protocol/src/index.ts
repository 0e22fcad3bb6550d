export { ACTIONS, type Action, isAction } from './actions/action.ts';
export { type Keccak256, toChecksumAddress } from './address.ts';
export {
  type AuditPage,
  auditPageSchema,
  type QueueStatsBody,
  queueStatsSchema,
  type ServiceBody,
  serviceSchema,
} from './admin/answers.ts';
export {
  failRequestSchema,
  type ListActsQuery,
  type ListAllRequestsQuery,
  listAllRequestsFields,
  parseFailRequest,
  parseListActs,
  parseListAllRequests,
  parseStatsQuery,
  type ReadStatsQuery,
  type RequestPurged,
  requestPurgedSchema,
} from './admin/requests.ts';
export {
  createRelayerAuthMessage,
  EMPTY_BODY_HASH,
  RELAYER_HEADERS,
  RELAYER_TIMESTAMP_SKEW_MS,
  type RelayerAuthFields,
} from './auth/relayerAuth.ts';
export {
  CONFLICT_REASONS,
  type ConflictReason,
  ERROR_CODES,
  ERROR_KINDS,
  type ErrorCode,
} from './errors/errorCodes.ts';
export {
  capFaults,
  type ErrorBody,
  errorBodySchema,
  type Fault,
  faultsFromIssues,
  MAX_FAULTS,
  type Parsed,
  parseWith,
} from './errors/fault.ts';
export { addressFormat, chainNameFormat, requestIdFormat } from './formats.ts';
export {
  type AddRelayerBody,
  addRelayerSchema,
  MAX_LABEL_LENGTH,
  MAX_REASON_LENGTH,
  type RelayerList,
  type RelayerReleased,
  type RelayerRemoved,
  type RelayerWireRecord,
  relayerListSchema,
  relayerPathSchema,
  relayerRecordSchema,
  relayerReleasedSchema,
  relayerRemovedSchema,
  suspendRelayerSchema,
} from './relayers/relayer.ts';
export {
  type ClaimRequestsBody,
  claimRequestsSchema,
  MAX_REQUEST_BATCH,
  parseClaimRequests,
  parseReportRequests,
  type ReportRequestsBody,
  type RequestReport,
  reportRequestsSchema,
  requestBatchSchema,
  requestConflictSchema,
  requestHeadSchema,
  requestReportForms,
} from './requests/batch.ts';
export {
  type ActionParams,
  type CreateRequestBody,
  type CreateRequestQuery,
  createParamsSchemas,
  createRequestParser,
  createRequestSchemaOf,
  type ParamsSchemas,
  parseCreateQuery,
} from './requests/create.ts';
export {
  DEFAULT_PAGE_SIZE,
  isPublicList,
  type ListFilters,
  type ListRequestsQuery,
  listRequestsFields,
  MAX_PAGE_SIZE,
  parseListRequests,
} from './requests/list.ts';
export {
  type RequestHead,
  type RequestPage,
  type RequestRecord,
  requestPageSchema,
  requestRecordSchema,
} from './requests/record.ts';
export {
  INITIAL_STATUS,
  isStatusMove,
  REQUEST_MOVES,
  REQUEST_STATUSES,
  REQUESTABLE_STATUSES,
  type RequestableStatus,
  type RequestMove,
  type RequestStatus,
} from './requests/status.ts';
export {
  MAX_ERROR_MESSAGE_LENGTH,
  parseReleaseRequest,
  parseRequestId,
  parseUpdateRequest,
  releaseRequestSchema,
  type UpdateRequestBody,
  updateRequestForms,
} from './requests/update.ts';
export {
  FEED_PAGE_SIZE,
  type FeedRequestsQuery,
  feedPageSchema,
  MAX_WAIT_SECONDS,
  parseFeedQuery,
  parseReadQuery,
  type ReadRequestQuery,
} from './requests/wait.ts';
export {
  type Access,
  COMMON_ERRORS,
  CORS_HEADERS,
  listErrors,
  type RateLimitClass,
  ROUTES,
  type Route,
  type RouteName,
} from './routes.ts';
export {
  type SignedOperationBody,
  STORAGE_OPERATIONS,
  type StorageOperation,
  signedOperationSchema,
  signStorageSchema,
} from './storage/sign.ts';
