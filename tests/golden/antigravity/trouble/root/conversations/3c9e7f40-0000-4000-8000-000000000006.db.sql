create table trajectory_meta (trajectory_id text, cascade_id text, trajectory_type integer, source integer, primary key (trajectory_id));
create table trajectory_metadata_blob (id text default "main", data blob, primary key (id));
create table steps (idx integer, step_type integer not null default 0, status integer not null default 0, metadata blob, error_details blob, step_payload blob, primary key (idx));
create table gen_metadata (idx integer, data blob, size integer not null default 0, primary key (idx));
insert into trajectory_metadata_blob values ('main', x'ffff');
insert into gen_metadata values (0, x'0a7f', 2);
insert into gen_metadata values (1, x'0a6b0a2174686520776f726473207468617420746865206d6f64656c207761732073656e74220708fc07100518014a0e220c0890d198d2061080cab5ee019a011067656d696e692d332d666c6173682d61aa011947656d696e6920332e3520466c61736820284d656469756d29', 109);
insert into gen_metadata values (7, 'text', 4);
insert into gen_metadata values (8, null, 0);
