// The tables as types. Both engines give the same values: a 64-bit integer is a number, a time is a Date, and JSON is read parsed
// and written as text.

import type { ColumnType, Generated, Kysely } from 'kysely'

type Json = ColumnType<unknown, string, string>

/** `owner` is the organisation that may see a record. Objects have none; they are reached through addresses and owned records. */
export interface Tables {
  mocap_sessions: {
    id: string
    owner: string
    org_id: string
    mocap_type_id: number
    session_type_id: number
    session_date: string
    num_movements: Generated<number>
    num_players: Generated<number>
    status: string
    created_at: Date
    updated_at: Date
  }
  mocap_session_files: {
    id: Generated<number>
    owner: string
    session_id: string
    name: string
    video_framerate: number | null
    registered_at: Date
  }
  player_group_segments: {
    id: Generated<number>
    owner: string
    movement_type_id: number
    dom_hand: string
    org_movement_ids: Json
    created_at: Date
    updated_at: Date
  }
  requested_analyses: {
    id: Generated<number>
    owner: string
    name: string
    primary_analysis_segment_id: number
    comparison_analysis_segment_id: number | null
    population_analysis_segment_id: number | null
    status: string
    requested_at: Date | null
    created_at: Date
    updated_at: Date
  }
  video_sessions: {
    id: string
    owner: string
    movement_type_id: number
    player_id: string
    session_date: string
    session_type_id: number
    is_cancelled: Generated<boolean>
    created_at: Date
    /** Neither cancelled nor swept, and some file is still unconfirmed. */
    is_open: Generated<boolean>
    /** When the sweeper had nothing left to do for the session. */
    settled_at: ColumnType<Date | null, Date | undefined, Date | null>
  }
  video_files: {
    id: Generated<number>
    owner: string
    session_id: string
    raw_file_name: string
    file_size_bytes: number
    number_of_chunks: number
    file_id: number | null
    frame_rate: number | null
    status: Generated<string>
    confirmation: ColumnType<string | null, string | null | undefined, string | null>
    /** The bucket's id of the multipart upload. */
    upload_id: ColumnType<string | null, string | undefined, string | null>
  }
  api_keys: {
    id: string
    owner: string
    name: string
    /** SHA-256 of the key, in hex. */
    digest: string
    created_at: Date
    revoked_at: Date | null
  }
  /** One row that identifies this database, so that no service works on another one's data folder. */
  database_identity: {
    id: string
    /** Of the folder with the objects. Null: of none yet, as with an embedded database or a bucket. */
    folder_id: string | null
  }
  objects: {
    key: string
    part_number: number
    blob: string
    size_bytes: number
    md5: string
    stored_at: Date
  }
}

export type Database = Kysely<Tables>
