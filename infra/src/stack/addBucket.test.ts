import { describe, expect, it } from 'vitest';
import { STAGES, type Stage } from '../rig/exampleSettings.ts';
import { findOnly, flatten, flattenAll } from '../rig/readTemplate.ts';

const LOCAL_ORIGINS = [
  'http://localhost:3000',
  'http://localhost:5173',
  'http://127.0.0.1:3000',
  'http://127.0.0.1:5173',
];

const EXPECTED = {
  dev: { origins: LOCAL_ORIGINS, deletion: 'Delete', days: 7 },
  prod: {
    origins: ['https://app.example.org', ...LOCAL_ORIGINS],
    deletion: 'RetainExceptOnCreate',
    days: 90,
  },
} as const satisfies Record<Stage, unknown>;

interface Statement {
  readonly Effect: string;
  readonly Action: string;
  readonly Principal: unknown;
  readonly Resource: unknown;
  readonly Condition: unknown;
}

function readPolicy(stage: Stage): Statement[] {
  const { PolicyDocument } = findOnly(stage, 'AWS::S3::BucketPolicy').Properties;
  // As IAM writes policies.
  return (PolicyDocument as { Statement: Statement[] }).Statement;
}

describe.each(STAGES)('bucket of %s', (stage) => {
  const { Properties, DeletionPolicy } = findOnly(stage, 'AWS::S3::Bucket');
  const expected = EXPECTED[stage];

  it('is encrypted, versioned, owned by one account, and not public', () => {
    expect(Properties.BucketEncryption).toEqual({
      ServerSideEncryptionConfiguration: [{ ServerSideEncryptionByDefault: { SSEAlgorithm: 'AES256' } }],
    });
    expect(Properties.VersioningConfiguration).toEqual({ Status: 'Enabled' });
    expect(Properties.OwnershipControls).toEqual({ Rules: [{ ObjectOwnership: 'BucketOwnerEnforced' }] });
    expect(Properties.PublicAccessBlockConfiguration).toEqual({
      BlockPublicAcls: true,
      BlockPublicPolicy: true,
      IgnorePublicAcls: true,
      RestrictPublicBuckets: true,
    });
    expect(DeletionPolicy).toBe(expected.deletion);
  });

  // Shows AWS-2.
  it('lets the production origin and local frontends in, and nobody else', () => {
    expect(Properties.CorsConfiguration).toEqual({
      CorsRules: [
        {
          AllowedOrigins: expected.origins,
          AllowedMethods: ['GET', 'PUT', 'HEAD', 'DELETE'],
          AllowedHeaders: ['*'],
          ExposedHeaders: ['ETag', 'x-amz-checksum-sha256', 'x-amz-version-id'],
          MaxAge: 3600,
        },
      ],
    });
  });

  it('forgets deleted objects, broken uploads and what is too large after a while, and nothing else', () => {
    expect(Properties.LifecycleConfiguration).toEqual({
      Rules: [
        {
          Id: 'ForgetDeletedObjects',
          Status: 'Enabled',
          NoncurrentVersionExpiration: { NoncurrentDays: expected.days },
          ExpiredObjectDeleteMarker: true,
        },
        {
          Id: 'RemoveTooLarge',
          Status: 'Enabled',
          ObjectSizeGreaterThan: '104857600',
          ExpirationInDays: 1,
          NoncurrentVersionExpiration: { NoncurrentDays: 1 },
        },
        { Id: 'AbortUploads', Status: 'Enabled', AbortIncompleteMultipartUpload: { DaysAfterInitiation: 1 } },
      ],
    });
  });

  it('refuses everyone without TLS 1.2, and signatures older than the longest lifetime', () => {
    const policy = readPolicy(stage);
    expect(policy.map(({ Condition }) => Condition)).toEqual([
      { Bool: { 'aws:SecureTransport': 'false' } },
      { NumericLessThan: { 's3:TlsVersion': 1.2 } },
      { NumericGreaterThan: { 's3:signatureAge': '300000' } },
    ]);
    for (const { Effect, Action, Principal, Resource } of policy) {
      expect({ Effect, Action, Principal }).toEqual({ Effect: 'Deny', Action: 's3:*', Principal: { AWS: '*' } });
      expect(flattenAll(Resource)).toContain(`<${flatten(findOnlyId(stage))}.Arn>/*`);
    }
  });
});

function findOnlyId(stage: Stage): unknown {
  const { Bucket } = findOnly(stage, 'AWS::S3::BucketPolicy').Properties;
  return (Bucket as { Ref: string }).Ref;
}
