import { CfnParameter, Duration, Fn, Validations } from 'aws-cdk-lib';
import { Certificate } from 'aws-cdk-lib/aws-certificatemanager';
import {
  AllowedMethods,
  CachePolicy,
  Distribution,
  Function as EdgeFunction,
  FunctionCode,
  FunctionEventType,
  FunctionRuntime,
  HttpVersion,
  OriginProtocolPolicy,
  OriginRequestPolicy,
  OriginSslPolicy,
  PriceClass,
  SecurityPolicyProtocol,
  ViewerProtocolPolicy,
} from 'aws-cdk-lib/aws-cloudfront';
import { HttpOrigin } from 'aws-cdk-lib/aws-cloudfront-origins';
import type { CfnWebACL } from 'aws-cdk-lib/aws-wafv2';
import { EDGE_REGION } from '../settings/stageSettings.ts';
import type { StackContext } from './stackContext.ts';

/** Parameters of the edge's stack. It is in a region of its own, where the outputs of the others do not reach. */
export const EDGE_PARAMETERS = { originHost: 'OriginHost', originSecretArn: 'OriginHeaderArn' } as const;

/** By this the function knows a call that came by its own CloudFront. @see packages/gateway/src/entry/lambda/createOriginGuard.ts */
const ORIGIN_HEADER = 'X-Origin-Secret';
/** The function ends at 29 s. */
const ORIGIN_SECONDS = 30;

/**
 * Shows the function who calls. Of `X-Forwarded-For` a function URL passes on the first address alone, which is whatever the caller wrote;
 * this header the caller cannot write. It runs behind the firewall, and costs 0.10 dollars a million.
 *
 * @see packages/gateway/src/entry/lambda/createHandler.ts
 */
const TELL_VIEWER = `function handler(event) {
  event.request.headers['x-viewer-address'] = { value: event.viewer.ip };
  return event.request;
}`;

export interface Edge {
  /** Where clients call it. */
  readonly url: string;
  /** The target of a domain's DNS record. */
  readonly target: string;
}

function originParameters({ stack }: StackContext) {
  const originHost = new CfnParameter(stack, EDGE_PARAMETERS.originHost, {
    description: "Host name of the function's URL",
    allowedPattern: '[a-z0-9.-]{4,253}',
  });
  const originSecretArn = new CfnParameter(stack, EDGE_PARAMETERS.originSecretArn, {
    description: `ARN of the origin secret, as it is in ${EDGE_REGION}`,
    allowedPattern: `arn:aws[a-z-]*:secretsmanager:${EDGE_REGION}:[0-9]{12}:secret:.+`,
  });
  return { originHost, originSecretArn };
}

/** CloudFormation puts the secret in its place; templates and parameters hold its ARN only. Of `new,old` the function takes either. */
function createOrigin(context: StackContext): HttpOrigin {
  const { originHost, originSecretArn } = originParameters(context);
  return new HttpOrigin(originHost.valueAsString, {
    protocolPolicy: OriginProtocolPolicy.HTTPS_ONLY,
    originSslProtocols: [OriginSslPolicy.TLS_V1_2],
    readTimeout: Duration.seconds(ORIGIN_SECONDS),
    customHeaders: {
      [ORIGIN_HEADER]: Fn.join('', ['{{resolve:secretsmanager:', originSecretArn.valueAsString, ':SecretString}}']),
    },
  });
}

function acknowledge(distribution: Distribution, hasDomain: boolean): void {
  Validations.of(distribution).acknowledge(
    {
      id: 'AwsSolutions-CFR1',
      reason:
        'The service is for signers and relayers of every country; who must shut some out does it in the firewall.',
    },
    {
      id: 'AwsSolutions-CFR3',
      reason:
        "The function logs each call that gets through with its client's address, and the firewall keeps samples and counts of what does not; a third log would hold queries, which these two do not.",
    },
  );
  if (hasDomain) return;
  Validations.of(distribution).acknowledge({
    id: 'AwsSolutions-CFR4',
    reason:
      "Without a domain of one's own, CloudFront serves its own name by its own certificate, whose oldest protocol cannot be chosen; DOMAIN_NAME raises it to TLS 1.2.",
  });
}

/** Adds CloudFront: it keeps nothing and passes everything on, but for the host's name. */
export function addDistribution(context: StackContext, firewall: CfnWebACL): Edge {
  const { stack, settings } = context;
  const { stage, domain, secretsRevision } = settings;
  const distribution = new Distribution(stack, 'Distribution', {
    // CloudFormation reads the secret again only when something of this resource changes: the revision does.
    comment: `Prism Gateway ${stage}${secretsRevision === undefined ? '' : `, secrets ${secretsRevision}`}`,
    // The firewall counts each IPv6 address by itself, of which one client has 2^64; by IPv4 it has one.
    enableIpv6: false,
    webAclId: firewall.attrArn,
    httpVersion: HttpVersion.HTTP2_AND_3,
    priceClass: PriceClass.PRICE_CLASS_100,
    minimumProtocolVersion: SecurityPolicyProtocol.TLS_V1_2_2021,
    ...(domain !== undefined && {
      domainNames: [domain.name],
      certificate: Certificate.fromCertificateArn(stack, 'Certificate', domain.certificateArn),
    }),
    defaultBehavior: {
      origin: createOrigin(context),
      allowedMethods: AllowedMethods.ALLOW_ALL,
      cachePolicy: CachePolicy.CACHING_DISABLED,
      originRequestPolicy: OriginRequestPolicy.ALL_VIEWER_EXCEPT_HOST_HEADER,
      viewerProtocolPolicy: ViewerProtocolPolicy.HTTPS_ONLY,
      compress: false,
      functionAssociations: [
        {
          eventType: FunctionEventType.VIEWER_REQUEST,
          function: new EdgeFunction(stack, 'TellViewer', {
            code: FunctionCode.fromInline(TELL_VIEWER),
            runtime: FunctionRuntime.JS_2_0,
          }),
        },
      ],
    },
  });
  acknowledge(distribution, domain !== undefined);
  const target = distribution.distributionDomainName;
  return { url: `https://${domain?.name ?? target}`, target };
}
