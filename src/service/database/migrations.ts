// The database's schema, step by step. A released step is never edited; a new one is added instead.

import { sql, type Kysely, type Migration } from 'kysely'

const FIRST = [
  `create table mocap_sessions (
    id text primary key,
    org_id text not null,
    mocap_type_id integer not null,
    session_type_id integer not null,
    session_date text not null,
    num_movements integer not null default 0,
    num_players integer not null default 0,
    status text not null,
    created_at timestamptz not null,
    updated_at timestamptz not null
  )`,
  `create table mocap_session_files (
    id integer generated always as identity primary key,
    session_id text not null references mocap_sessions (id),
    position integer not null,
    name text not null,
    video_framerate double precision,
    registered_at timestamptz not null,
    unique (session_id, name)
  )`,
  `create table player_group_segments (
    id integer generated always as identity primary key,
    movement_type_id integer not null,
    dom_hand text not null,
    org_movement_ids jsonb not null,
    created_at timestamptz not null,
    updated_at timestamptz not null
  )`,
  `create table requested_analyses (
    id integer generated always as identity primary key,
    name text not null,
    primary_analysis_segment_id integer not null references player_group_segments (id),
    comparison_analysis_segment_id integer references player_group_segments (id),
    population_analysis_segment_id integer references player_group_segments (id),
    status text not null,
    requested_at timestamptz,
    created_at timestamptz not null,
    updated_at timestamptz not null
  )`,
  `create table video_sessions (
    id text primary key,
    movement_type_id integer not null,
    player_id text not null,
    session_date text not null,
    session_type_id integer not null,
    is_cancelled boolean not null default false,
    created_at timestamptz not null
  )`,
  `create table video_files (
    id integer generated always as identity primary key,
    session_id text not null references video_sessions (id),
    raw_file_name text not null,
    file_size_bytes bigint not null,
    number_of_chunks integer not null,
    file_id bigint,
    frame_rate double precision,
    status text not null default 'pending',
    confirmation text
  )`,
  `create index video_files_by_session on video_files (session_id)`,
  // What the object storage holds. The row is what counts; its blob is the file with the bytes. A capture file is part 1.
  `create table objects (
    key text not null,
    part_number integer not null,
    blob text not null unique,
    size_bytes bigint not null,
    md5 text not null,
    stored_at timestamptz not null,
    primary key (key, part_number)
  )`,
]

const SECOND = [
  // Files take ids by the million in a night: 32 bits would be used up in two years.
  'alter table mocap_session_files alter column id type bigint',
  'alter table video_files alter column id type bigint',
  // Ordered bytewise, so that the keys of one session are a range of the index in every locale.
  'alter table objects alter column key type text collate "C"',
  'create index mocap_sessions_by_time on mocap_sessions (created_at desc, id desc)',
  `create index requested_analyses_due on requested_analyses (requested_at) where status = 'requested'`,
  'create index requested_analyses_by_primary on requested_analyses (primary_analysis_segment_id)',
  'create index requested_analyses_by_comparison on requested_analyses (comparison_analysis_segment_id)',
  'create index requested_analyses_by_population on requested_analyses (population_analysis_segment_id)',
  `create index video_files_confirmed on video_files (id) where status = 'confirmed'`,
  'create table database_identity (id text not null)',
  'insert into database_identity (id) values (gen_random_uuid()::text)',
]

const THIRD = [
  'alter table video_files add column upload_id text',
  'alter table video_sessions add column settled_at timestamptz',
  'create index video_sessions_unsettled on video_sessions (created_at, id) where settled_at is null',
]

const OWNED = [
  'mocap_sessions',
  'mocap_session_files',
  'player_group_segments',
  'requested_analyses',
  'video_sessions',
  'video_files',
]

const OWNERS = [
  `create table api_keys (
    id text primary key,
    owner text not null,
    name text not null,
    digest text not null,
    created_at timestamptz not null,
    revoked_at timestamptz
  )`,
  ...OWNED.flatMap((table) => [
    `alter table ${table} add column owner text not null default 'development'`,
    // From here on a record without an owner is an error, so none can belong to nobody by accident.
    `alter table ${table} alter column owner drop default`,
  ]),
  'drop index mocap_sessions_by_time',
  'create index mocap_sessions_by_time on mocap_sessions (owner, created_at desc, id desc)',
  'create index mocap_session_files_of_owner on mocap_session_files (owner, id)',
  'create index requested_analyses_of_owner on requested_analyses (owner, id)',
  'drop index video_files_confirmed',
  `create index video_files_confirmed on video_files (owner, id) where status = 'confirmed'`,
]

const OPEN_SESSIONS = [
  `create index video_files_unconfirmed on video_files (session_id) where status <> 'confirmed'`,
  'alter table video_sessions add column is_open boolean not null default true',
  `update video_sessions set is_open = false where is_cancelled or settled_at is not null or not exists (
    select 1 from video_files where session_id = video_sessions.id and status <> 'confirmed'
  )`,
  'create index video_sessions_open on video_sessions (owner) where is_open',
]

// The order of capture is that of the ids.
const NO_POSITIONS = ['alter table mocap_session_files drop column position']

const FOLDER = ['alter table database_identity add column folder_id text']

/** All steps by name, in order. */
export const migrations: Readonly<Record<string, Migration>> = {
  '0001-first': steps(FIRST),
  '0002-for-many-copies': steps(SECOND),
  '0003-for-buckets': steps(THIRD),
  '0004-owners': steps(OWNERS),
  '0005-open-sessions': steps(OPEN_SESSIONS),
  '0006-no-positions': steps(NO_POSITIONS),
  '0007-folder': steps(FOLDER),
}

function steps(statements: readonly string[]): Migration {
  return {
    async up(db: Kysely<unknown>) {
      for (const statement of statements) await sql.raw(statement).execute(db)
    },
  }
}
