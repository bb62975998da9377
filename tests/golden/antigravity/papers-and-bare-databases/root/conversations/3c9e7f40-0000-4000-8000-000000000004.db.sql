create table trajectory_meta (trajectory_id text, cascade_id text, trajectory_type integer, source integer, primary key (trajectory_id));
create table trajectory_metadata_blob (id text default "main", data blob, primary key (id));
create table steps (idx integer, step_type integer not null default 0, status integer not null default 0, metadata blob, error_details blob, step_payload blob, primary key (idx));
create table gen_metadata (idx integer, data blob, size integer not null default 0, primary key (idx));
insert into trajectory_metadata_blob values ('main', x'0a1d0a1566696c653a2f2f2f686f6d652f6164612f73686f7022046d61696e3a1566696c653a2f2f2f686f6d652f6164612f73686f70');
insert into gen_metadata values (0, x'0a750a2174686520776f726473207468617420746865206d6f64656c207761732073656e74221108fc07104618075a08616e737765722d394a0e220c0890d198d2061080cab5ee019a011067656d696e692d332d666c6173682d61aa011947656d696e6920332e3520466c61736820284d656469756d29', 119);
