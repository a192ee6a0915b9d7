// Drives the server at FHIR_BASE with fhir-kit-client as an application would.
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { before, describe, test } from 'node:test';
import { Client } from 'fhir-kit-client';

const base = process.env.FHIR_BASE;
assert.ok(base, 'set FHIR_BASE to the base URL of a running server');
const client = new Client({ baseUrl: base });
const system = 'urn:starling:client-test';

const patient = (value, extra = {}) => ({
  resourceType: 'Patient',
  identifier: [{ system, value }],
  name: [{ family: 'Ostrander', given: ['Wren'] }],
  birthDate: '1971-04-18',
  ...extra,
});

const header = (result, name) => Client.httpFor(result).response.headers.get(name);
const status = (result) => Client.httpFor(result).response.status;

// The error of a request that must fail, with an OperationOutcome of that code.
async function fails(promise, expected, code) {
  const error = await promise.then(() => assert.fail(`succeeded, want ${expected}`), (e) => e);
  assert.equal(error.response?.status, expected, error.message);
  assert.equal(error.response.data.resourceType, 'OperationOutcome');
  if (code) assert.equal(error.response.data.issue[0].code, code);
  return error;
}

test('capability statement', async () => {
  const statement = await client.capabilityStatement();
  assert.equal(statement.resourceType, 'CapabilityStatement');
  assert.equal(statement.fhirVersion, '4.0.1');
  assert.equal(statement.kind, 'instance');
  const rest = statement.rest.find((r) => r.mode === 'server');
  const types = rest.resource.map((r) => r.type);
  for (const type of ['Patient', 'ExplanationOfBenefit', 'Binary', 'VisionPrescription']) assert.ok(types.includes(type), type);
  assert.ok(types.length > 140, `${types.length} types`);
  assert.ok(!types.includes('Parameters'));
  const interactions = rest.resource.find((r) => r.type === 'Patient').interaction.map((i) => i.code);
  for (const code of ['read', 'vread', 'create', 'update', 'delete', 'history-instance', 'history-type']) {
    assert.ok(interactions.includes(code), code);
  }
});

describe('the life of a resource', () => {
  const value = randomUUID();
  let id;

  test('create', async () => {
    const created = await client.create({ resourceType: 'Patient', body: patient(value) });
    assert.equal(status(created), 201);
    id = created.id;
    assert.match(id, /^[A-Za-z0-9.-]{1,64}$/);
    assert.equal(created.meta.versionId, '1');
    assert.equal(created.identifier[0].value, value);
    assert.equal(header(created, 'etag'), 'W/"1"');
    assert.equal(header(created, 'location'), `${base}/Patient/${id}/_history/1`);
  });

  test('read', async () => {
    const read = await client.read({ resourceType: 'Patient', id });
    assert.deepEqual(read.name, patient(value).name);
    assert.equal(header(read, 'etag'), 'W/"1"');
    assert.ok(Math.abs(new Date(header(read, 'last-modified')) - new Date(read.meta.lastUpdated)) <= 1000);
  });

  test('update, and no lost update', async () => {
    const body = { ...patient(value), id, gender: 'female' };
    const updated = await client.update({ resourceType: 'Patient', id, body, options: { headers: { 'If-Match': 'W/"1"' } } });
    assert.equal(status(updated), 200);
    assert.equal(updated.meta.versionId, '2');
    assert.equal(updated.gender, 'female');
    await fails(client.update({ resourceType: 'Patient', id, body, options: { headers: { 'If-Match': 'W/"1"' } } }), 412, 'conflict');
    await fails(client.update({ resourceType: 'Patient', id, body: { ...body, id: 'another' } }), 400);
  });

  test('vread', async () => {
    const first = await client.vread({ resourceType: 'Patient', id, version: '1' });
    assert.equal(first.meta.versionId, '1');
    assert.equal(first.gender, undefined);
    await fails(client.vread({ resourceType: 'Patient', id, version: '99' }), 404, 'not-found');
  });

  test('delete', async () => {
    const deleted = await client.delete({ resourceType: 'Patient', id });
    assert.ok([200, 204].includes(status(deleted)), String(status(deleted)));
    await fails(client.read({ resourceType: 'Patient', id }), 410, 'deleted');
    await fails(client.read({ resourceType: 'Patient', id: randomUUID() }), 404, 'not-found');
  });

  test('history of the instance', async () => {
    const history = await client.resourceHistory({ resourceType: 'Patient', id });
    assert.equal(history.type, 'history');
    assert.equal(history.total, 3);
    assert.deepEqual(history.entry.map((e) => e.request.method), ['DELETE', 'PUT', 'POST']);
    assert.equal(history.entry[0].resource, undefined);
    assert.deepEqual(history.entry.slice(1).map((e) => e.resource.meta.versionId), ['2', '1']);
    assert.ok(history.entry.every((e) => e.response.status));
  });

  test('create again under the same id', async () => {
    const again = await client.update({ resourceType: 'Patient', id, body: { ...patient(value), id } });
    assert.equal(status(again), 201);
    assert.equal(again.meta.versionId, '4');
  });
});

test('history of a type and of the system, in pages', async () => {
  for (let i = 0; i < 3; i++) {
    await client.create({ resourceType: 'Patient', body: patient(randomUUID()) });
  }
  for (const path of ['Patient/_history?_count=2', '_history?_count=2']) {
    const first = await client.request(path);
    assert.equal(first.type, 'history');
    assert.equal(first.entry.length, 2, path);
    const second = await client.nextPage({ bundle: first });
    assert.ok(second.entry.length >= 1, path);
    const version = (e) => `${e.fullUrl}#${e.response.etag}`;
    const seen = new Set(first.entry.map(version));
    for (const entry of second.entry) assert.ok(!seen.has(version(entry)), `${version(entry)} is on both pages`);
  }
  assert.equal((await client.typeHistory({ resourceType: 'Patient' })).type, 'history');
  assert.equal((await client.systemHistory()).type, 'history');
});

describe('bundles', () => {
  test('a batch: entries stand alone', async () => {
    const answer = await client.batch({
      body: {
        resourceType: 'Bundle',
        type: 'batch',
        entry: [
          { resource: patient(randomUUID()), request: { method: 'POST', url: 'Patient' } },
          { request: { method: 'GET', url: `Patient/${randomUUID()}` } },
          { request: { method: 'GET', url: 'metadata' } },
        ],
      },
    });
    assert.equal(answer.type, 'batch-response');
    assert.deepEqual(answer.entry.map((e) => e.response.status.slice(0, 3)), ['201', '404', '200']);
    assert.equal(answer.entry[1].response.outcome.resourceType, 'OperationOutcome');
    assert.equal(answer.entry[2].resource.resourceType, 'CapabilityStatement');
  });

  test('a transaction: links between entries', async () => {
    const urn = `urn:uuid:${randomUUID()}`;
    const value = randomUUID();
    const answer = await client.transaction({
      body: {
        resourceType: 'Bundle',
        type: 'transaction',
        entry: [
          {
            resource: {
              resourceType: 'Observation', status: 'final', code: { text: 'a finding' },
              subject: { reference: urn }, performer: [{ reference: `Patient?identifier=${system}|${value}` }],
            },
            request: { method: 'POST', url: 'Observation' },
          },
          { fullUrl: urn, resource: patient(value), request: { method: 'POST', url: 'Patient' } },
        ],
      },
    });
    assert.equal(answer.type, 'transaction-response');
    assert.ok(answer.entry.every((e) => e.response.status.startsWith('201')));
    const id = (e) => /\/?([A-Za-z]+\/[^/]+)\/_history\//.exec(e.response.location)[1];
    const observation = await client.request(id(answer.entry[0]));
    assert.equal(observation.subject.reference, id(answer.entry[1]));
    assert.equal(observation.performer[0].reference, id(answer.entry[1]));
  });

  test('a transaction that fails leaves nothing', async () => {
    const value = randomUUID();
    const error = await fails(client.transaction({
      body: {
        resourceType: 'Bundle',
        type: 'transaction',
        entry: [
          { resource: patient(value), request: { method: 'POST', url: 'Patient' } },
          {
            resource: { ...patient(value), id: 'none', active: true },
            request: { method: 'PUT', url: 'Patient/none', ifMatch: 'W/"7"' },
          },
        ],
      },
    }), 412);
    assert.match(JSON.stringify(error.response.data.issue[0].expression), /Bundle\.entry\[1\]/);
    const found = await client.search({ resourceType: 'Patient', searchParams: { identifier: `${system}|${value}` } });
    assert.equal((found.entry ?? []).length, 0);
  });
});

describe('conditional requests', () => {
  const value = randomUUID();
  const criteria = `identifier=${system}|${value}`;
  const ifNoneExist = { headers: { 'If-None-Exist': criteria } };
  let id;

  before(async () => {
    const created = await client.create({ resourceType: 'Patient', body: patient(value), options: ifNoneExist });
    assert.equal(status(created), 201);
    id = created.id;
  });

  test('create', async () => {
    const again = await client.create({ resourceType: 'Patient', body: patient(value), options: ifNoneExist });
    assert.equal(status(again), 200);
    assert.match(header(again, 'location'), new RegExp(`/Patient/${id}/_history/1$`));
  });

  test('read', async () => {
    const options = { headers: { 'If-None-Match': 'W/"1"' } };
    const error = await client.read({ resourceType: 'Patient', id, options }).then(() => assert.fail('no 304'), (e) => e);
    assert.equal(error.response.status, 304);
  });

  test('update', async () => {
    const updated = await client.update({
      resourceType: 'Patient', searchParams: { identifier: `${system}|${value}` }, body: patient(value, { active: true }),
    });
    assert.equal(status(updated), 200);
    assert.equal(updated.id, id);
    assert.equal(updated.meta.versionId, '2');
    const other = randomUUID();
    const created = await client.update({
      resourceType: 'Patient', searchParams: { identifier: `${system}|${other}` }, body: patient(other),
    });
    assert.equal(status(created), 201);
  });

  test('several matches', async () => {
    const shared = randomUUID();
    for (let i = 0; i < 2; i++) await client.create({ resourceType: 'Patient', body: patient(shared) });
    await fails(client.create({
      resourceType: 'Patient', body: patient(shared), options: { headers: { 'If-None-Exist': `identifier=${system}|${shared}` } },
    }), 412, 'multiple-matches');
  });

  test('without criteria, or with unknown ones, nothing is done', async () => {
    await fails(client.request('Patient?no-such-parameter=1', { method: 'DELETE' }), 400);
    await fails(client.request('Patient', { method: 'DELETE' }), 400);
    await client.read({ resourceType: 'Patient', id });
  });

  test('delete', async () => {
    const deleted = await client.request(`Patient?${criteria}`, { method: 'DELETE' });
    assert.ok([200, 204].includes(status(deleted)));
    await fails(client.read({ resourceType: 'Patient', id }), 410, 'deleted');
  });
});

test('a refused resource names its element', async () => {
  const error = await client.create({ resourceType: 'Patient', body: patient('x', { gender: 'none-such' }) })
    .then(() => assert.fail('accepted'), (e) => e);
  assert.ok([400, 422].includes(error.response.status));
  assert.match(JSON.stringify(error.response.data.issue), /Patient\.gender/);
});

test('10,000 results in pages, forwards and back, while others are written', async () => {
  const code = randomUUID();
  const basic = (i) => ({
    resource: {
      resourceType: 'Basic', code: { coding: [{ system, code }] },
      created: `20${String(i % 20).padStart(2, '0')}-0${(i % 9) + 1}-1${i % 10}`,
    },
    request: { method: 'POST', url: 'Basic' },
  });
  const write = (n) => client.transaction({
    body: { resourceType: 'Bundle', type: 'transaction', entry: Array.from({ length: n }, (_, i) => basic(i)) },
  });
  const made = new Set();
  for (let i = 0; i < 10; i++) {
    for (const e of (await write(1000)).entry) made.add(/Basic\/([^/]+)/.exec(e.response.location)[1]);
  }
  for (const order of [undefined, '-created']) {
    const searchParams = { code: `${system}|${code}`, _count: 500, ...(order && { _sort: order }) };
    const [forwards, back] = [[], []];
    let last;
    for (let page = await client.search({ resourceType: 'Basic', searchParams }); page; page = await client.nextPage({ bundle: page })) {
      forwards.push(...page.entry.map((e) => e.resource));
      last = page;
      await write(1);
    }
    for (let page = last; page; page = await client.prevPage({ bundle: page })) {
      back.unshift(...page.entry.map((e) => e.resource));
    }
    for (const seen of [forwards, back]) {
      const ids = seen.map((r) => r.id);
      assert.equal(new Set(ids).size, ids.length, 'a resource is shown twice');
      const missed = new Set(ids);
      assert.ok([...made].every((id) => missed.has(id)), 'a resource is skipped');
      if (order) assert.ok(seen.every((r, i) => i === 0 || r.created <= seen[i - 1].created), 'out of order');
    }
  }
});

test('included resources', async () => {
  const value = randomUUID();
  const subject = await client.create({ resourceType: 'Patient', body: patient(value) });
  const { id } = await client.create({
    resourceType: 'Observation', body: { resourceType: 'Observation', status: 'final', code: { text: 'a finding' }, subject: { reference: `Patient/${subject.id}` } },
  });
  const modes = (bundle) => bundle.entry.map((e) => `${e.search.mode} ${e.resource.id}`);
  const forwards = await client.search({ resourceType: 'Observation', searchParams: { _id: id, _include: 'Observation:subject' } });
  assert.deepEqual(modes(forwards), [`match ${id}`, `include ${subject.id}`]);
  const back = await client.search({ resourceType: 'Patient', searchParams: { _id: subject.id, _revinclude: 'Observation:subject' } });
  assert.deepEqual(modes(back), [`match ${subject.id}`, `include ${id}`]);
  const everything = await client.operation({ resourceType: 'Patient', id: subject.id, name: '$everything', method: 'GET' });
  assert.deepEqual(new Set(modes(everything)), new Set([`match ${subject.id}`, `match ${id}`]));
});
