// The database's shape, one step after another. A step that has been released is never edited: a new one is added.

import { sql, type Kysely, type Migration, type MigrationProvider } from 'kysely'

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
  // What object storage holds: a row is what counts, its blob is the file with the bytes. A capture file is part 1.
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

const migrations: Readonly<Record<string, Migration>> = {
  '0001-first': {
    async up(db: Kysely<unknown>) {
      for (const statement of FIRST) await sql.raw(statement).execute(db)
    },
  },
}

/** All steps, by name, in order. */
export const migrationProvider: MigrationProvider = { getMigrations: () => Promise.resolve({ ...migrations }) }
