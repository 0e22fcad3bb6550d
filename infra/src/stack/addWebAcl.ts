import { CfnIPSet, CfnWebACL } from 'aws-cdk-lib/aws-wafv2';
import type { EdgeSettings } from '../settings/stageSettings.ts';
import type { StackContext } from './stackContext.ts';

type Rule = CfnWebACL.RuleProperty;

/** Seconds over which an address's calls are counted. */
const WINDOW_SECONDS = 300;

/**
 * Sets of AWS's own rules, and those of their rules that only count. They know nothing of this API: its bodies go up to
 * `MAX_BODY_BYTES` (256 kB), its administrators register URLs of webhooks, and relayers are programs that may name no agent.
 *
 * @see https://docs.aws.amazon.com/waf/latest/developerguide/aws-managed-rule-groups-list.html
 */
const MANAGED = [
  { name: 'AWSManagedRulesAmazonIpReputationList', counted: [] },
  { name: 'AWSManagedRulesKnownBadInputsRuleSet', counted: [] },
  {
    name: 'AWSManagedRulesCommonRuleSet',
    counted: ['SizeRestrictions_BODY', 'NoUserAgent_HEADER', 'GenericRFI_BODY', 'EC2MetaDataSSRF_BODY'],
  },
] as const;

const watched = (metricName: string) => ({ cloudWatchMetricsEnabled: true, sampledRequestsEnabled: true, metricName });

/** An answer in the API's own shape, which a web page may read too. */
function answer(responseCode: number, body: string, headers: Readonly<Record<string, string>> = {}) {
  const fields = { 'Access-Control-Allow-Origin': '*', ...headers };
  return {
    responseCode,
    customResponseBodyKey: body,
    responseHeaders: Object.entries(fields).map(([name, value]) => ({ name, value })),
  };
}

function managedRule({ name, counted }: (typeof MANAGED)[number], index: number): Rule {
  return {
    name,
    priority: index + 1,
    statement: {
      managedRuleGroupStatement: {
        vendorName: 'AWS',
        name,
        ruleActionOverrides: counted.map((rule) => ({ name: rule, actionToUse: { count: {} } })),
      },
    },
    overrideAction: { none: {} },
    visibilityConfig: watched(name),
  };
}

function addTrusted({ stack, settings }: StackContext, ranges: readonly string[]): CfnWebACL.StatementProperty[] {
  return ([4, 6] as const).flatMap((version) => {
    const addresses = ranges.filter((range) => range.includes(':') === (version === 6));
    if (addresses.length === 0) return [];
    const set = new CfnIPSet(stack, `TrustedV${version}`, {
      name: `prism-gateway-${settings.stage}-trusted-v${version}`,
      scope: 'CLOUDFRONT',
      ipAddressVersion: `IPV${version}`,
      addresses,
    });
    return [{ ipSetReferenceStatement: { arn: set.attrArn } }];
  });
}

/** All but calls of trusted addresses. */
function untrusted(context: StackContext, ranges: readonly string[]): CfnWebACL.StatementProperty | undefined {
  const [first, second] = addTrusted(context, ranges);
  if (first === undefined) return undefined;
  const statement = second === undefined ? first : { orStatement: { statements: [first, second] } };
  return { notStatement: { statement } };
}

function rateRule(context: StackContext, { ratePerAddress, trustedAddresses }: EdgeSettings): Rule {
  const scopeDownStatement = untrusted(context, trustedAddresses);
  return {
    name: 'RatePerAddress',
    priority: 0,
    statement: {
      rateBasedStatement: {
        limit: ratePerAddress,
        evaluationWindowSec: WINDOW_SECONDS,
        aggregateKeyType: 'IP',
        ...(scopeDownStatement !== undefined && { scopeDownStatement }),
      },
    },
    action: { block: { customResponse: answer(429, 'tooMany', { 'Retry-After': '60' }) } },
    visibilityConfig: watched('RatePerAddress'),
  };
}

/** Adds the firewall: calls of each address are counted, and what AWS knows for an attack is refused. */
export function addWebAcl(context: StackContext, edge: EdgeSettings): CfnWebACL {
  const { stack, settings } = context;
  const text = (error: string) => ({ contentType: 'APPLICATION_JSON', content: JSON.stringify({ error }) });
  return new CfnWebACL(stack, 'Firewall', {
    name: `prism-gateway-${settings.stage}`,
    scope: 'CLOUDFRONT',
    defaultAction: { allow: {} },
    customResponseBodies: { tooMany: text('Too many requests from this address. Try again in a minute.') },
    rules: [rateRule(context, edge), ...MANAGED.map(managedRule)],
    visibilityConfig: watched(`prism-gateway-${settings.stage}`),
  });
}
