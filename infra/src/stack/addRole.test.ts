import { describe, expect, it } from 'vitest';
import { EXAMPLE_SETTINGS, STAGES, type Stage, type Variant } from '../rig/exampleSettings.ts';
import { findOnly, findResources, flatten, flattenAll, type Resource } from '../rig/readTemplate.ts';

interface Statement {
  readonly Effect: string;
  readonly Action: unknown;
  readonly Resource: unknown;
  readonly Condition?: unknown;
}

/** The rights of a role: `action resource`, all combinations. */
function permissionsOf(role: Resource): string[] {
  // As CloudFormation writes inline policies.
  const policies = role.Properties.Policies as { PolicyDocument: { Statement: Statement[] } }[];
  return policies
    .flatMap(({ PolicyDocument }) => PolicyDocument.Statement)
    .flatMap(({ Effect, Action, Resource: resources }) => {
      expect(Effect).toBe('Allow');
      return flattenAll(Action).flatMap((action) => flattenAll(resources).map((resource) => `${action} ${resource}`));
    })
    .sort();
}

const region = { dev: '<AWS::Region>', prod: 'eu-central-1' } as const satisfies Record<Stage, string>;

function expectedPermissions(
  stage: Stage,
  names: { readonly requests: string; readonly deliveries?: string; readonly bucket: string },
): string[] {
  const deliveries = names.deliveries ?? `service-deliveries-${stage}`;
  const place = `${region[stage]}:<AWS::AccountId>`;
  const table = (name: string) => `arn:<AWS::Partition>:dynamodb:${place}:table/${name}`;
  const on = (resource: string, ...actions: string[]) => actions.map((action) => `dynamodb:${action} ${resource}`);
  return [
    ...on(table(names.requests), 'BatchGetItem', 'DeleteItem', 'GetItem', 'PutItem', 'UpdateItem'),
    ...['bySigner', 'byStatus', 'byTransactionOrRelease'].flatMap((index) =>
      on(`${table(names.requests)}/index/${index}`, 'Query'),
    ),
    ...on(table(`service-relayers-${stage}`), 'DeleteItem', 'GetItem', 'Scan', 'UpdateItem'),
    ...on(table(`service-ratelimit-${stage}`), 'GetItem', 'Query', 'UpdateItem'),
    ...on(table(deliveries), 'GetItem', 'Query', 'UpdateItem'),
    ...['byDue', 'byWebhook'].flatMap((index) => on(`${table(deliveries)}/index/${index}`, 'Query')),
    `s3:GetObject <${names.bucket}.Arn>/v1/*`,
    `s3:PutObject <${names.bucket}.Arn>/v1/*`,
    `s3:DeleteObject <${names.bucket}.Arn>/v1/*`,
    `s3:ListBucket <${names.bucket}.Arn>`,
    ...Object.keys(findResources(stage, 'AWS::SecretsManager::Secret')).map(
      (id) => `secretsmanager:GetSecretValue <${id}>`,
    ),
    ...['CreateLogStream', 'PutLogEvents'].map(
      (action) =>
        `logs:${action} arn:<AWS::Partition>:logs:${place}:log-group:/aws/lambda/prism-gateway-${stage}:log-stream:*`,
    ),
  ];
}

const bucketId = (variant: Variant) => Object.keys(findResources(variant, 'AWS::S3::Bucket'))[0] ?? '';

describe.each(STAGES)("the function's role in %s", (stage) => {
  const role = findOnly(stage, 'AWS::IAM::Role', 'FunctionRole');

  // Shows AWS-3.
  it('may do exactly what the gateway does', () => {
    const appSecret = EXAMPLE_SETTINGS[stage].IDENTITY_APP_SECRET_ARN;
    expect(permissionsOf(role)).toEqual(
      [
        ...expectedPermissions(stage, { requests: `service-requests-${stage}`, bucket: bucketId(stage) }),
        ...(appSecret === undefined ? [] : [`secretsmanager:GetSecretValue ${appSecret}`]),
      ].sort(),
    );
  });

  it('lists nothing but the one object whose whole path it names, so that S3 says 404 where it is not there', () => {
    const policies = role.Properties.Policies as { PolicyDocument: { Statement: Statement[] } }[];
    const listing = policies.flatMap(({ PolicyDocument }) =>
      PolicyDocument.Statement.filter(({ Action }) => Action === 's3:ListBucket'),
    );
    expect(listing).toHaveLength(1);
    const { Condition } = listing[0] as { readonly Condition: { readonly StringLike: Record<string, string> } };
    expect(Object.keys(Condition)).toEqual(['StringLike']);
    const wanted = Condition.StringLike['s3:prefix'] ?? '';
    // As IAM compares: `?` is one character.
    const isLike = (prefix: string) => new RegExp(`^${wanted.replaceAll('?', '.')}$`).test(prefix);
    const whole = `v1/${'a'.repeat(64)}/${'b'.repeat(32)}/${'c'.repeat(64)}`;
    expect(isLike(whole)).toBe(true);
    for (const prefix of ['', 'v1/', `v1/${'a'.repeat(64)}/`, whole.slice(0, -1), `${whole}0`, `w${whole.slice(1)}`])
      expect(isLike(prefix)).toBe(false);
  });

  it('is taken by Lambda only, and has no further policies', () => {
    expect(role.Properties.AssumeRolePolicyDocument).toEqual({
      Version: '2012-10-17',
      Statement: [{ Effect: 'Allow', Action: 'sts:AssumeRole', Principal: { Service: 'lambda.amazonaws.com' } }],
    });
    expect(role.Properties).not.toHaveProperty('ManagedPolicyArns');
  });

  it('is the one that the function has', () => {
    const id = Object.keys(findResources(stage, 'AWS::IAM::Role')).find((name) => name.startsWith('FunctionRole'));
    expect(flatten(findOnly(stage, 'AWS::Lambda::Function', 'Function').Properties.Role)).toBe(`<${id}.Arn>`);
  });
});

describe("the function's role for other settings", () => {
  const permissions = permissionsOf(findOnly('other', 'AWS::IAM::Role', 'FunctionRole'));

  it('follows the function to a restored table, and reads an app secret that is a parameter', () => {
    expect(permissions).toEqual(
      [
        ...expectedPermissions('dev', {
          requests: 'service-requests-dev-restored',
          deliveries: 'service-deliveries-dev-restored',
          bucket: bucketId('other'),
        }),
        'ssm:GetParameter arn:aws:ssm:eu-central-1:123456789012:parameter/prism/app-secret',
      ].sort(),
    );
  });
});
