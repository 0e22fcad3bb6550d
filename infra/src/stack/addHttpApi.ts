import { Fn, RemovalPolicy, Validations } from 'aws-cdk-lib';
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
  /** Where it is called: by clients, or by the edge in front of it. */
  readonly url: string;
  readonly host: string;
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

type DomainAddress = Omit<GatewayApi, 'api'>;

/** The host name that API Gateway itself is called by: with an edge in front that is the edge's affair, not its clients'. */
const ownDomain = ({ domain, edge }: StackContext['settings']) => (edge === undefined ? domain : edge.origin);

function addDomain({ stack, settings }: StackContext, api: HttpApi, stage: HttpStage): DomainAddress {
  const domain = ownDomain(settings);
  if (domain === undefined) {
    // Of https://{host}.
    return { url: api.apiEndpoint, host: Fn.select(2, Fn.split('/', api.apiEndpoint)) };
  }
  const domainName = new DomainName(stack, 'Domain', {
    domainName: domain.name,
    certificate: Certificate.fromCertificateArn(stack, 'Certificate', domain.certificateArn),
    securityPolicy: SecurityPolicy.TLS_1_2,
  });
  new ApiMapping(stack, 'DomainMapping', { api, domainName, stage });
  return { url: `https://${domain.name}`, host: domain.name, domainTarget: domainName.regionalDomainName };
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
    // Else there would be a way in that passes by CloudFront and its firewall.
    disableExecuteApiEndpoint: settings.edge?.origin !== undefined,
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
