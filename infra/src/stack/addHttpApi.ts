import { RemovalPolicy, Validations } from 'aws-cdk-lib';
import { AccessLogFormat } from 'aws-cdk-lib/aws-apigateway';
import {
  ApiMapping,
  DomainName,
  HttpApi,
  HttpStage,
  LogGroupLogDestination,
  SecurityPolicy,
} from 'aws-cdk-lib/aws-apigatewayv2';
import { HttpLambdaIntegration } from 'aws-cdk-lib/aws-apigatewayv2-integrations';
import { Certificate } from 'aws-cdk-lib/aws-certificatemanager';
import type { IFunction } from 'aws-cdk-lib/aws-lambda';
import { LogGroup } from 'aws-cdk-lib/aws-logs';
import type { StackContext } from './stackContext.ts';

/** A line a call; no header, no query, no body. */
const ACCESS_LOG_LINE = JSON.stringify({
  time: '$context.requestTimeEpoch',
  apiRequestId: '$context.requestId',
  peer: '$context.identity.sourceIp',
  method: '$context.httpMethod',
  path: '$context.path',
  status: '$context.status',
  ms: '$context.responseLatency',
  functionMs: '$context.integration.latency',
  error: '$context.error.message',
  functionError: '$context.integration.error',
});

export interface GatewayApi {
  readonly api: HttpApi;
  /** Where clients call it. */
  readonly url: string;
  /** What the domain's DNS record must point to, where there is a domain. */
  readonly domainTarget?: string;
}

function addStage({ stack, settings }: StackContext, httpApi: HttpApi): HttpStage {
  const logGroup = new LogGroup(stack, 'ApiLog', {
    // Names that begin so need no entry in the account's log policy, which holds ten only.
    logGroupName: `/aws/vendedlogs/prism-gateway-${settings.stage}/api`,
    retention: settings.logRetentionDays,
    removalPolicy: RemovalPolicy.DESTROY,
  });
  return new HttpStage(stack, 'ApiStage', {
    httpApi,
    stageName: '$default',
    autoDeploy: true,
    throttle: { rateLimit: settings.throttle.rate, burstLimit: settings.throttle.burst },
    accessLogSettings: {
      destination: new LogGroupLogDestination(logGroup),
      format: AccessLogFormat.custom(ACCESS_LOG_LINE),
    },
  });
}

type DomainAddress = Pick<GatewayApi, 'url' | 'domainTarget'>;

function addDomain({ stack, settings: { domain } }: StackContext, api: HttpApi, stage: HttpStage): DomainAddress {
  if (domain === undefined) return { url: api.apiEndpoint };
  const domainName = new DomainName(stack, 'Domain', {
    domainName: domain.name,
    certificate: Certificate.fromCertificateArn(stack, 'Certificate', domain.certificateArn),
    securityPolicy: SecurityPolicy.TLS_1_2,
  });
  new ApiMapping(stack, 'DomainMapping', { api, domainName, stage });
  return { url: `https://${domain.name}`, domainTarget: domainName.regionalDomainName };
}

/**
 * Adds the HTTP API: every call goes to the function, preflights too. Its own CORS stays off: it would replace the gateway's
 * headers by its own.
 */
export function addHttpApi(context: StackContext, target: IFunction): GatewayApi {
  const { stack, settings } = context;
  const api = new HttpApi(stack, 'Api', {
    apiName: `prism-gateway-${settings.stage}`,
    description: 'Prism Gateway',
    createDefaultStage: false,
    defaultIntegration: new HttpLambdaIntegration('Gateway', target),
  });
  Validations.of(api).acknowledge({
    id: 'AwsSolutions-APIG4',
    reason:
      'The gateway authorises each call itself, by four levels of access (public, access token, relayer signature, admin key); three of them API Gateway cannot judge.',
  });
  const stage = addStage(context, api);
  return { api, ...addDomain(context, api, stage) };
}
