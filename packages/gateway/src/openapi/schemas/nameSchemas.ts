import {
  ACTIONS,
  type Action,
  addRelayerSchema,
  auditPageSchema,
  claimRequestsSchema,
  createParamsSchemas,
  createRequestSchemaOf,
  errorBodySchema,
  failRequestSchema,
  feedPageSchema,
  type ParamsSchemas,
  queueStatsSchema,
  relayerListSchema,
  relayerRecordSchema,
  relayerReleasedSchema,
  relayerRemovedSchema,
  releaseRequestSchema,
  reportRequestsSchema,
  requestBatchSchema,
  requestConflictSchema,
  requestHeadSchema,
  requestPageSchema,
  requestPurgedSchema,
  requestRecordSchema,
  requestReportForms,
  serviceSchema,
  signedOperationSchema,
  signStorageSchema,
  suspendRelayerSchema,
  updateRequestForms,
} from '@prism-gateway/protocol';
import {
  addWebhookSchema,
  changeWebhookSchema,
  deliveryPageSchema,
  deliverySchema,
  webhookListSchema,
  webhookMessageSchema,
  webhookRemovedSchema,
  webhookSchema,
  webhookWithSecretSchema,
} from '@prism-gateway/protocol/webhooks';
import type * as z from 'zod/mini';
import { schemaStemOf } from '../actionNames.ts';

/** Formats and other parts that several schemas share: each is one object of zod's, so that a `$ref` can stand for it. */
function nameSharedParts(params: ParamsSchemas): Record<string, z.ZodMiniType> {
  const { shape: write } = params.WRITE_DATA_FOR;
  const { shape: creation } = params.CREATE_PRISM_FOR;
  const { shape: batch } = params.BATCH_WRITE_DATA_FOR;
  const { shape: record } = requestRecordSchema;
  return {
    Address: record.signer,
    ChainName: record.chainName,
    RequestId: record.requestId,
    Time: record.createdAt,
    TransactionHash: record.txHash.def.innerType,
    CloudId: write.cloudId,
    DataId: write.dataId,
    DataIds: batch.dataIds,
    Payload: write.payload,
    Payloads: batch.payloads,
    RelayerFee: write.relayerFee,
    Timestamp: write.timestamp,
    SignatureV: write.v,
    SignatureHalf: write.r,
    Salt: creation.salt,
    FundAmount: creation.fundAmount,
    RelayerFundAmount: creation.relayerFundAmount.def.innerType,
    Permit: creation.permit.def.innerType,
    WriteEntry: params.BATCH_MULTI_USER_WRITE_DATA.shape.requests.def.out.def.element,
  };
}

/** The params of each action; `aliases` are the actions whose params are those of an earlier one. */
function nameParams(params: ParamsSchemas) {
  const firstOf = new Map<z.ZodMiniType, Action>();
  const named: Record<string, z.ZodMiniType> = {};
  const aliases: { readonly action: Action; readonly of: Action }[] = [];
  for (const action of ACTIONS) {
    const first = firstOf.get(params[action]);
    if (first === undefined) {
      firstOf.set(params[action], action);
      named[`${schemaStemOf(action)}Params`] = params[action];
    } else {
      aliases.push({ action, of: first });
    }
  }
  return { named, aliases };
}

/** The options that differ from one deployment to another. */
export interface SchemaOptions {
  readonly maxBatchSize: number;
  readonly withWebhooks?: boolean;
}

const WEBHOOK_SCHEMAS: Readonly<Record<string, z.ZodMiniType>> = {
  AddWebhookBody: addWebhookSchema,
  ChangeWebhookBody: changeWebhookSchema,
  Webhook: webhookSchema,
  WebhookWithSecret: webhookWithSecretSchema,
  WebhookList: webhookListSchema,
  WebhookRemoved: webhookRemovedSchema,
  Delivery: deliverySchema,
  WebhookMessage: webhookMessageSchema,
  WebhookEvent: webhookMessageSchema.shape.type,
  EventRecord: webhookMessageSchema.shape.data,
  DeliveryPage: deliveryPageSchema,
};

/**
 * Gathers the schemas that validate, by the names they have in the document.
 *
 * @param limits.maxBatchSize - most entries of a batch array
 * @param limits.withWebhooks - whether there are webhooks
 * @returns schemas by name, and the actions whose params are another action's
 */
export function nameSchemas(limits: SchemaOptions) {
  const params = createParamsSchemas(limits);
  const { named, aliases } = nameParams(params);
  const bodies = ACTIONS.map((action) => [`${schemaStemOf(action)}Body`, createRequestSchemaOf(action, params)]);
  const [ClaimBody, SuccessReportBody, FailureReportBody] = updateRequestForms;
  const [SuccessReport, FailureReport] = requestReportForms;
  const schemas: Readonly<Record<string, z.ZodMiniType>> = {
    ...nameSharedParts(params),
    ...named,
    ...Object.fromEntries(bodies),
    Action: requestRecordSchema.shape.action,
    RequestStatus: requestRecordSchema.shape.status,
    RequestRecord: requestRecordSchema,
    RequestPage: requestPageSchema,
    FeedPage: feedPageSchema,
    ClaimBody,
    SuccessReportBody,
    FailureReportBody,
    ClaimRequestsBody: claimRequestsSchema,
    SuccessReport,
    FailureReport,
    ReportRequestsBody: reportRequestsSchema,
    ReleaseRequestBody: releaseRequestSchema,
    RequestConflict: requestConflictSchema,
    RequestHead: requestHeadSchema,
    RequestBatch: requestBatchSchema,
    AddRelayerBody: addRelayerSchema,
    Relayer: relayerRecordSchema,
    RelayerList: relayerListSchema,
    RelayerRemoved: relayerRemovedSchema,
    FailRequestBody: failRequestSchema,
    RequestPurged: requestPurgedSchema,
    QueueStats: queueStatsSchema,
    ChainCounts: queueStatsSchema.shape.chains.def.element,
    QueueActivity: queueStatsSchema.shape.minutes.def.element,
    RelayerStats: queueStatsSchema.shape.relayers.def.element,
    AuditPage: auditPageSchema,
    AuditedAct: auditPageSchema.shape.items.def.element,
    Service: serviceSchema,
    ClientUse: serviceSchema.shape.clients.def.element,
    LimitRefusals: serviceSchema.shape.refusals.def.element,
    BudgetUse: serviceSchema.shape.budgets.def.element,
    DiskUse: serviceSchema.shape.disk.def.innerType,
    Program: queueStatsSchema.shape.programs.def.element,
    SuspendRelayerBody: suspendRelayerSchema,
    RelayerReleased: relayerReleasedSchema,
    ...(limits.withWebhooks && WEBHOOK_SCHEMAS),
    SignStorageBody: signStorageSchema,
    SignedOperation: signedOperationSchema,
    Error: errorBodySchema,
    ErrorDetail: errorBodySchema.shape.details.def.innerType.def.element,
  };
  return { schemas, aliases };
}
