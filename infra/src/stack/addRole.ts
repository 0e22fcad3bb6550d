import { type TableNames, tableDescriptions } from '@prism-gateway/gateway/deployment';
import { ArnFormat, Stack, Validations } from 'aws-cdk-lib';
import { PolicyDocument, PolicyStatement, Role, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import type { Bucket } from 'aws-cdk-lib/aws-s3';
import type { GatewaySecrets } from './addSecrets.ts';
import { deliveriesStatements } from './addWebhooks.ts';
import type { StackContext } from './stackContext.ts';
import { TABLE_ACCESS } from './tableAccess.ts';

/** A whole object path: `v1/`, 64 digits, 32 and 64. */
const WHOLE_PATH = `v1/${['?'.repeat(64), '?'.repeat(32), '?'.repeat(64)].join('/')}`;

interface RoleParts {
  readonly bucket: Bucket;
  readonly secrets: GatewaySecrets;
  readonly logGroupName: string;
}

/** The prefix of all object paths. @see docs/specification.md SIGN-4 */
const OBJECT_PREFIX = 'v1/*';

const allow = (sid: string, actions: readonly string[], resources: readonly string[]) =>
  new PolicyStatement({ sid, actions: [...actions], resources: [...resources] });

/**
 * Of an object that is not there, S3 says 404 to those who may list it, and 403 to others. Whoever lists by a prefix as long as a whole
 * path sees one object at most, which it may read anyway: nothing else can be listed, and no presigned URL of the gateway lists.
 *
 * @see https://docs.aws.amazon.com/AmazonS3/latest/API/API_HeadObject.html
 */
const absenceStatement = (bucket: Bucket) =>
  new PolicyStatement({
    sid: 'ObjectsThatAreNotThere',
    actions: ['s3:ListBucket'],
    resources: [bucket.bucketArn],
    conditions: { StringLike: { 's3:prefix': WHOLE_PATH } },
  });

const SIDS = { requests: 'Requests', relayers: 'Relayers', rateLimits: 'RateLimits' } as const;

/** By name, for the function may have been set to use a table that was restored beside the stack's own. */
function tableStatements({ stack, settings }: StackContext, kind: keyof TableNames): PolicyStatement[] {
  const access = TABLE_ACCESS[kind];
  const operations = (names: readonly string[]) => names.map((name) => `dynamodb:${name}`);
  const table = stack.formatArn({ service: 'dynamodb', resource: 'table', resourceName: settings.tables[kind] });
  const indexes = tableDescriptions[kind].indexes.map(({ name }) => `${table}/index/${name}`);
  const statements = [allow(SIDS[kind], operations(access.table), [table])];
  if (indexes.length > 0) statements.push(allow(`${SIDS[kind]}Indexes`, operations(access.indexes), indexes));
  return statements;
}

function secretStatements({ settings }: StackContext, secrets: GatewaySecrets): PolicyStatement[] {
  const { adminApiKey, cursorSecret, originSecret } = secrets;
  const own = [adminApiKey, cursorSecret, ...(originSecret === undefined ? [] : [originSecret])].map(
    ({ secretArn }) => secretArn,
  );
  const appSecret = settings.identityAppSecretArn;
  const isParameter = appSecret?.split(':')[2] === 'ssm';
  const inSecretsManager = appSecret !== undefined && !isParameter ? [...own, appSecret] : own;
  const statements = [allow('Secrets', ['secretsmanager:GetSecretValue'], inSecretsManager)];
  if (appSecret !== undefined && isParameter) statements.push(allow('Parameter', ['ssm:GetParameter'], [appSecret]));
  return statements;
}

/** Accepts the two wildcards of the role, each by its whole resource: any further one fails the synthesis. */
function acknowledgeWildcards(
  { stack, settings }: StackContext,
  role: Role,
  { bucket, logGroupName }: Pick<RoleParts, 'bucket' | 'logGroupName'>,
): void {
  // The bucket is of another stack: what the role holds is the name that this one exports its ARN by.
  const exported = stack.resolve(Stack.of(bucket).exportValue(bucket.bucketArn));
  const logs = `arn:<AWS::Partition>:logs:${settings.region ?? '<AWS::Region>'}:<AWS::AccountId>:log-group`;
  Validations.of(role).acknowledge(
    {
      id: `AwsSolutions-IAM5[Resource::${exported['Fn::ImportValue']}/${OBJECT_PREFIX}]`,
      reason:
        'Object paths begin with v1/ and a hash of the user: presigned URLs name one object each, and only this prefix can be signed for.',
    },
    {
      id: `AwsSolutions-IAM5[Resource::${logs}:${logGroupName}:log-stream:*]`,
      reason: "Lambda names the streams of the function's own log group, one an instance.",
    },
  );
}

/**
 * Adds the function's role. Head is `s3:GetObject` to IAM, so that the four operations on objects are three actions; they also
 * bound what a presigned URL can do, which is signed with this role's keys.
 *
 * @see https://docs.aws.amazon.com/AmazonS3/latest/API/API_HeadObject.html
 */
export function addRole(context: StackContext, { bucket, secrets, logGroupName }: RoleParts): Role {
  const { stack } = context;
  const objects = bucket.arnForObjects(OBJECT_PREFIX);
  const logStreams = stack.formatArn({
    service: 'logs',
    resource: 'log-group',
    resourceName: `${logGroupName}:log-stream:*`,
    arnFormat: ArnFormat.COLON_RESOURCE_NAME,
  });
  const statements = [
    ...tableStatements(context, 'requests'),
    ...tableStatements(context, 'relayers'),
    ...tableStatements(context, 'rateLimits'),
    ...deliveriesStatements(context, ['GetItem', 'Query', 'UpdateItem']),
    allow('Objects', ['s3:GetObject', 's3:PutObject', 's3:DeleteObject'], [objects]),
    absenceStatement(bucket),
    ...secretStatements(context, secrets),
    allow('Logs', ['logs:CreateLogStream', 'logs:PutLogEvents'], [logStreams]),
  ];
  const role = new Role(stack, 'FunctionRole', {
    assumedBy: new ServicePrincipal('lambda.amazonaws.com'),
    description: `Prism Gateway ${context.settings.stage}: what its function may do`,
    inlinePolicies: { gateway: new PolicyDocument({ statements }) },
  });
  acknowledgeWildcards(context, role, { bucket, logGroupName });
  return role;
}
