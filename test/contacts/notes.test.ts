import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { presentListedNote, presentNote } from '../../src/features/contacts/index.ts';
import { AroundWorld, invalid, NOT_FOUND, only, REFUSED } from './around.world.ts';

describe('Notes', () => {
  let world: AroundWorld;

  beforeAll(async () => {
    world = await AroundWorld.start();
  });
  afterAll(() => world.stop());

  const setUp = async () => {
    const { caller, teamId } = await world.account();
    return { caller, teamId, contactId: await world.contact(caller) };
  };

  it('are made and listed as the contract shows them, with the name of who wrote them', async () => {
    const { caller, teamId, contactId } = await setUp();
    const { notes } = world.services;
    const made = await notes.create(caller, contactId.toUpperCase(), { note: '<p>Call in <b>May</b></p>' });
    const shown = {
      ...{ note_id: made.noteId, contact_id: contactId, user_id: caller.userId, type: 'contact' },
      ...{ note: '<p>Call in <b>May</b></p>', note_text: 'Call in May', attachments: [] },
      ...{ created_at: world.clock.nowMs(), created_by: caller.userId },
    };
    expect(presentNote(made)).toEqual(shown);
    const [name] = (await world.services.users.names(teamId, [caller.userId])).values();
    expect((await notes.list(caller, contactId)).map(presentListedNote)).toEqual([
      { ...shown, username: name },
    ]);
    expect(name).toBeTruthy();
  });

  it('are listed newest first, each with its own writer', async () => {
    const { caller, contactId } = await setUp();
    const agent = await world.user(caller, 'agent');
    for (const [who, note] of [
      [caller, 'first'],
      [agent, 'second'],
      [caller, 'third'],
    ] as const) {
      world.clock.advance(1_000);
      await world.services.notes.create(who, contactId, { note });
    }
    const listed = await world.services.notes.list(caller, contactId);
    expect(listed.map((note) => note.noteText)).toEqual(['third', 'second', 'first']);
    expect(listed[1]?.username).toMatch(/^User \d+$/);
    expect(listed[1]?.username).not.toBe(listed[0]?.username);
  });

  it.each([
    ['<script>alert(1)</script><b>hi</b>', '<b>hi</b>'],
    ['<img src=x onerror=alert(1)>text', 'text'],
    ['<p onclick="alert(1)" style="x">a</p>', '<p>a</p>'],
    ['<a href="javascript:alert(1)">x</a>', '<a rel="noopener noreferrer nofollow">x</a>'],
    [
      '<a href="https://example.com/?a=1&b=2" target="_top">x</a>',
      '<a href="https://example.com/?a=1&amp;b=2" rel="noopener noreferrer nofollow">x</a>',
    ],
    ['<a href="//example.com">x</a>', '<a rel="noopener noreferrer nofollow">x</a>'],
    ['<iframe src="https://example.com"></iframe>x', 'x'],
    ['<svg><script>alert(1)</script></svg>x', 'x'],
    ['<style>*{}</style><textarea><b></textarea>x', 'x'],
    ['<<b>script>alert(1)<</b>/script>', '&lt;<b>script&gt;alert(1)&lt;</b>/script&gt;'],
    ['1 < 2 & 3', '1 &lt; 2 &amp; 3'],
    ['<ul><li>a</li><li>b</li></ul>', '<ul><li>a</li><li>b</li></ul>'],
  ])('keep of %j only what is basic HTML', async (note, kept) => {
    const { caller, contactId } = await setUp();
    const made = await world.services.notes.create(caller, contactId, { note });
    expect(made.note).toBe(kept);
    expect((await world.services.notes.list(caller, contactId))[0]?.note).toBe(kept);
  });

  it('of hostile nesting and size are cut in good time', async () => {
    const { caller, contactId } = await setUp();
    const deep = `${'<b>'.repeat(16_000)}x`;
    const made = await world.services.notes.create(caller, contactId, { note: deep });
    expect(made.note.length).toBeLessThan(1_000);
    await world.services.notes.create(caller, contactId, { note: '<br>'.repeat(12_000) });
    await world.services.notes.create(caller, contactId, { note: '<'.repeat(50_000) });
  });

  it('have a text of the HTML without its marks, or the one that was sent', async () => {
    const { caller, contactId } = await setUp();
    const { notes } = world.services;
    const derived = await notes.create(caller, contactId, {
      note: '<h1>Plan</h1><p>one &amp; <a href="https://example.com">two</a></p>',
    });
    expect(derived.noteText).toBe('Plan\n\none & two [https://example.com]');
    const given = await notes.create(caller, contactId, { note: '<p>a</p>', noteText: '<b>as it is</b>' });
    expect(given.noteText).toBe('<b>as it is</b>');
    const empty = await notes.create(caller, contactId, { note: '<p>a</p>', noteText: '' });
    expect(empty.noteText).toBe('');
  });

  it.each([
    ['note', {}],
    ['note', { note: '' }],
    ['note', { note: '  ' }],
    ['note', { note: null }],
    ['note', { note: 5 }],
    ['note', { note: 'a\0b' }],
    ['note', { note: '\ud800' }],
    ['note', { note: 'x'.repeat(50_001) }],
    ['note_text', { note: 'a', noteText: 5 }],
    ['note_text', { note: 'a', noteText: 'x'.repeat(50_001) }],
  ])('are refused with a wrong %s', async (field, input) => {
    const { caller, contactId } = await setUp();
    await expect(world.services.notes.create(caller, contactId, input)).rejects.toMatchObject(invalid(field));
    expect(await world.services.notes.list(caller, contactId)).toEqual([]);
  });

  it('need a contact of the account', async () => {
    const [mine, theirs] = [await setUp(), await setUp()];
    const { notes } = world.services;
    await notes.create(theirs.caller, theirs.contactId, { note: 'theirs' });
    for (const contactId of [theirs.contactId, 'nonsense', mine.teamId]) {
      await expect(notes.create(mine.caller, contactId, { note: 'mine' })).rejects.toMatchObject(NOT_FOUND);
      await expect(notes.list(mine.caller, contactId)).rejects.toMatchObject(NOT_FOUND);
    }
    expect(await notes.list(theirs.caller, theirs.contactId)).toHaveLength(1);
  });

  it('are bounded in number', async () => {
    const { caller, teamId, contactId } = await setUp();
    await world.db.query(
      `insert into contact_notes (id, team_id, contact_id, user_id, note, note_text, created_by)
       select gen_random_uuid(), $1, $2, $3, 'n', 'n', $3 from generate_series(1, 10000)`,
      [teamId, contactId, caller.userId],
    );
    const expected = { code: 'conflict', status: 409 };
    await expect(world.services.notes.create(caller, contactId, { note: 'x' })).rejects.toMatchObject(
      expected,
    );
  });

  it('need the scopes of contacts', async () => {
    const { caller, contactId } = await setUp();
    const { notes } = world.services;
    const [reader, writer] = [only(caller, 'contacts:read'), only(caller, 'contacts:write')];
    await expect(notes.create(reader, contactId, { note: 'x' })).rejects.toMatchObject(REFUSED);
    await expect(notes.list(writer, contactId)).rejects.toMatchObject(REFUSED);
  });
});
